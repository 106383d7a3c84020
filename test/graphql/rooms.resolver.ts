import { Module, UseGuards, type DynamicModule } from '@nestjs/common';
import { Args, Field, Int, ObjectType, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import {
  AuthToken,
  CurrentSession,
  CurrentUser,
  fromHeader,
  OptionalAuth,
  SessionAuthGuard,
  SessionAuthModule,
  type PresentedSession,
  type UserRecord,
} from 'nestjs-session-auth';

@ObjectType()
export class Room {
  @Field()
  readonly name!: string;
}

const After = (): ParameterDecorator => Args('after', { type: () => Int, defaultValue: 0 });

/** Answers after some turns of the event loop: so a client arranges the order of the answers. */
async function room(turns: number): Promise<Room> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return { name: 'room' };
}

/** The rooms of the staff, whose fields have no guard unless they name one. */
@Resolver(() => Room)
export class RoomsResolver {
  @Query(() => Room)
  @UseGuards(SessionAuthGuard)
  office(@After() after: number): Promise<Room> {
    return room(after);
  }

  @Query(() => Room)
  @OptionalAuth()
  lobby(@After() after: number): Promise<Room> {
    return room(after);
  }

  @Query(() => Room)
  hall(@After() after: number): Promise<Room> {
    return room(after);
  }

  @ResolveField(() => String)
  guest(
    @CurrentUser() user?: UserRecord,
    @AuthToken() token?: string,
    @CurrentSession() session?: PresentedSession,
  ): string {
    return `${user?.username ?? 'nobody'} ${token ?? 'nobody'} ${session?.token ?? 'nobody'}`;
  }

  @ResolveField(() => Room)
  inner(@After() after: number): Promise<Room> {
    return room(after);
  }

  @ResolveField(() => [Room])
  async rooms(@After() after: number): Promise<Room[]> {
    return [await room(after), await room(after)];
  }

  @ResolveField(() => Room)
  @UseGuards(SessionAuthGuard)
  staffRoom(@After() after: number): Promise<Room> {
    return room(after);
  }
}

/** The rooms of the partners: their module has a session service of its own. */
@Resolver(() => Room)
@UseGuards(SessionAuthGuard)
export class PartnerRoomsResolver {
  @Query(() => Room)
  partnerOffice(@After() after: number): Promise<Room> {
    return room(after);
  }

  @Subscription(() => Room)
  async *arrivals(): AsyncGenerator<{ arrivals: Room }> {
    for (let arrival = 1; arrival <= 2; arrival += 1) yield { arrivals: await room(arrival) };
  }

  @ResolveField(() => Room)
  partnerRoom(@After() after: number): Promise<Room> {
    return room(after);
  }
}

@Module({})
class PartnersModule {}

export function partnersModule(baseUrl: string): DynamicModule {
  const registration = SessionAuthModule.forRoot({
    baseUrl,
    apiKey: 'partner-key',
    token: fromHeader('x-partner-token'),
    isGlobal: false,
  });
  return { module: PartnersModule, imports: [registration], providers: [PartnerRoomsResolver] };
}

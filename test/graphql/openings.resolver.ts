import { UseGuards } from '@nestjs/common';
import {
  Args,
  Field,
  Int,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import {
  AuthIv,
  AuthToken,
  CurrentUser,
  fromBearer,
  fromCookie,
  fromHeader,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  type UserRecord,
} from 'nestjs-session-auth';

/** Of an application whose browsers have a cookie. */
export const WITH_COOKIE = { token: [fromHeader('X-Auth-Token'), fromBearer(), fromCookie('sid')] };

@ObjectType()
export class Opening {
  @Field(() => Int)
  readonly id!: number;
}

@Resolver(() => Opening)
@UseGuards(SessionAuthGuard)
export class OpeningsResolver {
  #resolved = 0;

  constructor(private readonly sessions: SessionAuthService) {}

  @Query(() => [Opening])
  openings(@Args('count', { type: () => Int }) count: number): Opening[] {
    this.#resolved += 1;
    return Array.from({ length: count }, (_, id) => ({ id }));
  }

  @ResolveField(() => String)
  async owner(@CurrentUser('username') username = '', @Parent() { id }: Opening): Promise<string> {
    // The next field is reached only when the check of this one is long over.
    await new Promise((resolve) => setImmediate(resolve));
    return `${username} ${id}`;
  }

  @ResolveField(() => String, { nullable: true })
  @Roles('hiring_manager')
  salary(): string {
    this.#resolved += 1;
    return 'much';
  }

  @Query(() => String)
  me(@CurrentUser() user: UserRecord, @AuthToken() token: string, @AuthIv() iv?: string): string {
    this.#resolved += 1;
    return [user.username, token, ...(iv === undefined ? [] : [iv])].join(' ');
  }

  @Query(() => String)
  @Roles('hiring_manager')
  secrets(): string {
    this.#resolved += 1;
    return 'secret';
  }

  /** How many times a resolver ran that this counts. */
  @Query(() => Int)
  @Public()
  resolved(): number {
    return this.#resolved;
  }

  @Query(() => String)
  @Public()
  async signedOut(): Promise<string> {
    await this.sessions.signOut('some-token');
    return 'bye';
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username = ''): AsyncGenerator<{ news: string }> {
    for (;;) {
      yield { news: `hello ${username}` };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  @Subscription(() => String)
  async *ticks(@CurrentUser('username') username = ''): AsyncGenerator<{ ticks: string }> {
    this.#resolved += 1;
    for (let tick = 1; tick <= 3; tick += 1) yield { ticks: `${username} ${await Promise.resolve(tick)}` };
  }
}

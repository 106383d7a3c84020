import { UseGuards } from '@nestjs/common';
import { Field, Int, Mutation, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { FreshSession, Public, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';

@ObjectType()
export class Account {
  @Field(() => Int)
  readonly id!: number;
}

/** Harmless handlers beside dangerous ones, which ask for a session that the service confirms now. */
@Resolver(() => Account)
@UseGuards(SessionAuthGuard)
export class WipingResolver {
  #wipes = 0;

  constructor(private readonly sessions: SessionAuthService) {}

  @Query(() => String, { name: 'ping' })
  ping(): string {
    return 'pong';
  }

  @Mutation(() => String, { name: 'ping' })
  pingMutation(): string {
    return 'pong';
  }

  @Query(() => Account)
  account(): Account {
    return { id: 1 };
  }

  @FreshSession()
  @Query(() => Int, { name: 'wipe' })
  wipeQuery(): number {
    return (this.#wipes += 1);
  }

  @FreshSession()
  @Mutation(() => Int)
  wipe(): number {
    return (this.#wipes += 1);
  }

  @FreshSession()
  @ResolveField(() => Int, { name: 'wipe' })
  wipeField(): number {
    return (this.#wipes += 1);
  }

  @FreshSession({ maxAgeMs: 60_000 })
  @ResolveField(() => Int)
  recentWipe(): number {
    return (this.#wipes += 1);
  }

  @Mutation(() => String)
  async leave(): Promise<string> {
    await this.sessions.signOut('good');
    return 'bye';
  }

  /** How often a dangerous handler ran. */
  @Public()
  @Query(() => Int)
  wipes(): number {
    return this.#wipes;
  }
}

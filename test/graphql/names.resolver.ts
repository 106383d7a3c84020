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
import { OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { SessionContext } from 'nestjs-session-auth/context';

@ObjectType()
export class Thing {
  @Field(() => Int)
  readonly id!: number;
}

/** Resolvers that read the user from `SessionContext` alone. */
@Resolver(() => Thing)
@UseGuards(SessionAuthGuard)
export class NamesResolver {
  constructor(private readonly session: SessionContext) {}

  @Query(() => String)
  async name(): Promise<string> {
    const before = this.#name();
    await this.#later();
    return `${before} ${this.#name()}`;
  }

  @Query(() => String)
  @OptionalAuth()
  optionalName(): string {
    return this.#name();
  }

  @Query(() => String)
  @Public()
  openName(): string {
    return this.#name();
  }

  @Query(() => [Thing])
  things(@Args('count', { type: () => Int }) count: number): Thing[] {
    return Array.from({ length: count }, (_, id) => ({ id }));
  }

  @Query(() => [Thing])
  @Public()
  openThings(): Thing[] {
    return [{ id: 0 }];
  }

  /** Without parameters: Nest calls it without enhancers, unless the application has some for fields. */
  @ResolveField(() => String)
  owner(): string {
    return this.#name();
  }

  @ResolveField(() => String)
  async laterOwner(@Parent() { id }: Thing): Promise<string> {
    await this.#later();
    return `${this.#name()} ${id}`;
  }

  @ResolveField(() => String)
  @Public()
  openOwner(): string {
    return this.#name();
  }

  @ResolveField(() => [Thing])
  async parts(): Promise<Thing[]> {
    await this.#later();
    return [{ id: 7 }];
  }

  @Subscription(() => String)
  async *names(): AsyncGenerator<{ names: string }> {
    try {
      for (let event = 1; event <= 2; event += 1) {
        yield { names: `${this.#name()} ${event}` };
        await this.#later();
      }
    } finally {
      this.#name();
    }
  }

  #name(): string {
    return this.session.findUser()?.username ?? 'nobody';
  }

  async #later(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

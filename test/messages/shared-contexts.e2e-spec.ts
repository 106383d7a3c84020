import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, Scope, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Server, type CustomTransportStrategy } from '@nestjs/microservices';
import {
  CurrentSession,
  CurrentUser,
  fromHeader,
  OptionalAuth,
  Public,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  type PresentedSession,
  type UserRecord,
} from 'nestjs-session-auth';
import { isObservable, lastValueFrom } from 'rxjs';
import { always } from '../support/always.js';
import { testbed } from '../support/testbed.js';

/** The tokens that a message presents to the session service of each module. */
interface Presented {
  readonly own?: string | undefined;
  readonly partner?: string | undefined;
}

/** A transporter that delivers messages as a test orders: with any context, and several at a time. */
class Wire extends Server implements CustomTransportStrategy {
  listen(listening: () => void): void {
    listening();
  }

  close(): void {
    this.messageHandlers.clear();
  }

  on(): void {
    // It has no events.
  }

  unwrap(): never {
    throw new Error('It has no server');
  }

  /** Resolves with the result of the last handler, or with the code of its denial. */
  async deliver(pattern: string, data: unknown, context: unknown): Promise<unknown> {
    try {
      const result: unknown = await this.getHandlerByPattern(pattern)?.(data, context);
      return isObservable(result) ? await lastValueFrom(result) : result;
    } catch (error) {
      return (error as { readonly code?: string }).code ?? error;
    }
  }
}

/** The context of a message: its sender changes what it presents. */
class WireContext {
  presented: Presented = {};

  getMessage(): { readonly headers: Presented } {
    return { headers: this.presented };
  }
}

/** The users that the handlers saw, by the names of the handlers. */
class Seen {
  readonly by = new Map<string, unknown>();
}

@Injectable()
abstract class Noting {
  constructor(private readonly seen: Seen) {}

  protected note(name: string, user: UserRecord | undefined, session: unknown): string {
    const { token = 'none' } = (session ?? {}) as Partial<PresentedSession>;
    const text = `${user?.username ?? 'none'} ${token}`;
    this.seen.by.set(name, text);
    return text;
  }
}

@Controller()
class Listeners extends Noting {
  @EventPattern('hired')
  @UseGuards(SessionAuthGuard)
  staff(@CurrentUser() user: UserRecord, @CurrentSession() session: unknown): void {
    this.note('staff', user, session);
  }

  @EventPattern('hired')
  @OptionalAuth()
  optional(@CurrentUser() user: UserRecord | undefined, @CurrentSession() session: unknown): void {
    this.note('optional', user, session);
  }

  @EventPattern('hired')
  @Public()
  open(@CurrentUser() user: UserRecord | undefined, @CurrentSession() session: unknown): void {
    this.note('open', user, session);
  }

  @MessagePattern('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: UserRecord, @CurrentSession() session: unknown): string {
    return this.note('me', user, session);
  }
}

/** Nest creates it for each message. */
@Controller({ scope: Scope.REQUEST })
class ScopedListeners extends Noting {
  @EventPattern('hired')
  @OptionalAuth()
  scoped(@CurrentUser() user: UserRecord | undefined, @CurrentSession() session: unknown): void {
    this.note('scoped', user, session);
  }

  @EventPattern('hired')
  @Public()
  scopedOpen(@CurrentUser() user: UserRecord | undefined, @CurrentSession() session: unknown): void {
    this.note('scopedOpen', user, session);
  }
}

@Controller()
class PartnersListeners extends Noting {
  @EventPattern('hired')
  @UseGuards(SessionAuthGuard)
  partners(@CurrentUser() user: UserRecord, @CurrentSession() session: unknown): void {
    this.note('partners', user, session);
  }
}

describe('messages that share one object', () => {
  const bed = testbed();
  let close: () => Promise<void>;
  afterEach(() => close());

  async function start(options: { cache?: { ttlMs: number } } = { cache: { ttlMs: 60_000 } }) {
    const [own, partners] = [await bed.service(), await bed.service()];
    const [wire, seen] = [new Wire(), new Seen()];
    @Module({})
    class Root {}
    @Module({})
    class Partners {}
    const providers = [{ provide: Seen, useValue: seen }];
    const registration = (name: 'own' | 'partner', baseUrl: string, isGlobal: boolean) =>
      SessionAuthModule.forRoot({
        baseUrl,
        apiKey: name,
        token: fromHeader(name),
        isGlobal,
        timeoutMs: 30_000,
        ...options,
      });
    const forPartners = {
      module: Partners,
      imports: [registration('partner', partners.url, false)],
      controllers: [PartnersListeners],
      providers,
    };
    const root = {
      module: Root,
      imports: [registration('own', own.url, true), forPartners],
      controllers: [Listeners, ScopedListeners],
      providers: [...providers, { provide: 'staff', useExisting: SessionAuthService }],
    };
    const app = await NestFactory.createMicroservice(root, {
      strategy: wire,
      logger: false,
      abortOnError: false,
    });
    await app.listen();
    close = () => app.close();
    own.signInAs({ username: 'ann' }, 'own-token');
    partners.signInAs({ username: 'bob' }, 'partner-token');
    const context = new WireContext();
    context.presented = { own: 'own-token', partner: 'partner-token' };
    return { own, partners, wire, seen, context, sessions: app.get<SessionAuthService>('staff') };
  }

  const ANN = 'ann own-token';
  const BOB = 'bob partner-token';
  const NO_USER = 'none none';
  const SEEN = {
    staff: ANN,
    partners: BOB,
    optional: ANN,
    open: NO_USER,
    scoped: ANN,
    scopedOpen: NO_USER,
  };

  it.each([
    ['with the cache cold and warm', { cache: { ttlMs: 60_000 } }],
    ['without a cache', {}],
  ])(
    'an event gives each of its handlers the user and the session of its own admission, %s [P44]',
    async (_case, options) => {
      const { wire, seen, context } = await start(options);
      for (const round of ['cold', 'warm']) {
        seen.by.clear();
        await wire.deliver('hired', {}, context);
        expect([round, Object.fromEntries(seen.by)]).toEqual([round, SEEN]);
      }
    },
  );

  it('an event whose token one service refuses lends no handler the session of another one [P44]', async () => {
    const { wire, seen, context } = await start();
    context.presented = { own: 'own-token', partner: 'refused' };
    expect(await wire.deliver('hired', {}, context)).toBe('SESSION_REJECTED');
    // Nest may leave out the other handlers of an event once one of them is denied.
    expect(SEEN).toMatchObject(Object.fromEntries(seen.by));
    expect(seen.by.has('partners')).toBe(false);
  });

  it.each([
    ['an object of its own', () => ({})],
    ['the same text', () => 'text'],
  ])(
    'each message stands for itself where all share one context, with %s as its data [P27]',
    async (_data, dataOf) => {
      const { own, wire, context, sessions } = await start();
      const send = (token: string | undefined): Promise<unknown> => {
        context.presented = { own: token };
        return wire.deliver('me', dataOf(), context);
      };

      expect(await send('own-token')).toBe(ANN);
      expect(await always(() => send('junk'))).toBe('SESSION_REJECTED');
      expect(await always(() => send(undefined))).toBe('SESSION_REQUIRED');
      expect(await send('own-token')).toBe(ANN);
      own.revoke('own-token');
      await sessions.forget('own-token');
      expect(await send('own-token')).toBe('SESSION_REJECTED');
    },
  );

  it('concurrent messages that share one context and one payload each have their own user [P27]', async () => {
    const { own, wire, context } = await start();
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const payload = {};
    const answers = names.map((username) => {
      context.presented = { own: own.signInAs({ username }, username) };
      return wire.deliver('me', payload, context);
    });
    expect(await Promise.all(answers)).toEqual(names.map((name) => `${name} ${name}`));
  });
});

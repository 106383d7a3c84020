import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Injectable,
  Module,
  Scope,
  UseGuards,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Server, type CustomTransportStrategy } from '@nestjs/microservices';
import {
  AuthToken,
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
import { currentUserOf } from 'nestjs-session-auth/diagnostics';
import { isObservable, lastValueFrom, type Observable } from 'rxjs';
import { always } from '../support/always.js';
import { hold, json, type ScriptedService } from '../support/scripted-service.js';
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

type Reads = [user: unknown, token: unknown, session?: unknown];

@Injectable()
class SeeingInterceptor implements NestInterceptor {
  static readonly users = new Map<string, string>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    SeeingInterceptor.users.set(context.getHandler().name, currentUserOf(context)?.username ?? 'none');
    return next.handle();
  }
}

@Injectable()
abstract class Noting {
  constructor(private readonly seen: Seen) {}

  protected note(name: string, ...[user, token, session]: Reads): string {
    const injected = [
      (user as UserRecord | undefined)?.username,
      token as string,
      (session as PresentedSession | undefined)?.token,
    ];
    const saw = [...injected, SeeingInterceptor.users.get(name)].map((each) => each ?? 'none').join(' ');
    this.seen.by.set(name, saw);
    return saw;
  }
}

@Controller()
class Listeners extends Noting {
  @EventPattern('hired')
  @UseGuards(SessionAuthGuard)
  staff(@CurrentUser() user: unknown, @AuthToken() token: unknown, @CurrentSession() session: unknown): void {
    this.note('staff', user, token, session);
  }

  @EventPattern('hired')
  @OptionalAuth()
  optional(
    @CurrentUser() user: unknown,
    @AuthToken() token: unknown,
    @CurrentSession() session: unknown,
  ): void {
    this.note('optional', user, token, session);
  }

  @EventPattern('hired')
  @Public()
  open(@CurrentUser() user: unknown, @AuthToken() token: unknown, @CurrentSession() session: unknown): void {
    this.note('open', user, token, session);
  }

  /** The same handlers in another order. */
  @EventPattern('left')
  @OptionalAuth()
  optionalFirst(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('optionalFirst', user, token);
  }

  @EventPattern('left')
  @Public()
  openNext(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('openNext', user, token);
  }

  @MessagePattern('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: unknown, @AuthToken() token: unknown, @CurrentSession() session: unknown): string {
    return this.note('me', user, token, session);
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class PartnersListeners extends Noting {
  @EventPattern('hired')
  partners(
    @CurrentUser() user: unknown,
    @AuthToken() token: unknown,
    @CurrentSession() session: unknown,
  ): void {
    this.note('partners', user, token, session);
  }

  @EventPattern('left')
  partnersLast(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('partnersLast', user, token);
  }
}

@Controller({ scope: Scope.REQUEST })
@UseGuards(SessionAuthGuard)
class ScopedPartnersListeners extends Noting {
  @EventPattern('moved')
  scopedPartners(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('scopedPartners', user, token);
  }
}

/** Nest creates it for each message, and one event has several handlers in it too. */
@Controller({ scope: Scope.REQUEST })
class ScopedListeners extends Noting {
  @EventPattern('moved')
  @UseGuards(SessionAuthGuard)
  scopedStaff(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('scopedStaff', user, token);
  }

  @EventPattern('moved')
  @Public()
  scopedOpen(@CurrentUser() user: unknown, @AuthToken() token: unknown): void {
    this.note('scopedOpen', user, token);
  }
}

describe('messages that share one object', () => {
  const bed = testbed();
  let closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing) await close();
    closing = [];
    SeeingInterceptor.users.clear();
  });

  interface Running {
    readonly own: ScriptedService;
    readonly partners: ScriptedService;
    readonly wire: Wire;
    readonly seen: Seen;
    readonly sessions: SessionAuthService;
    readonly context: WireContext;
  }

  async function start(cache: false | { ttlMs: number } = { ttlMs: 60_000 }): Promise<Running> {
    const [own, partners] = [await bed.service(), await bed.service()];
    const [wire, seen] = [new Wire(), new Seen()];
    @Module({})
    class Root {}
    @Module({})
    class Partners {}
    const providers = [{ provide: Seen, useValue: seen }];
    const patient = { timeoutMs: 30_000, ...(cache && { cache }) };
    const root = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({
          baseUrl: own.url,
          apiKey: 'own',
          token: fromHeader('own'),
          ...patient,
        }),
        {
          module: Partners,
          imports: [
            SessionAuthModule.forRoot({
              baseUrl: partners.url,
              apiKey: 'partner',
              token: fromHeader('partner'),
              isGlobal: false,
              ...patient,
            }),
          ],
          controllers: [PartnersListeners, ScopedPartnersListeners],
          providers,
        },
      ],
      controllers: [Listeners, ScopedListeners],
      providers: [...providers, { provide: 'staff', useExisting: SessionAuthService }],
    };
    const app = await NestFactory.createMicroservice(root, {
      strategy: wire,
      logger: false,
      abortOnError: false,
    });
    app.useGlobalInterceptors(new SeeingInterceptor());
    await app.listen();
    closing.push(() => app.close());
    return {
      own,
      partners,
      wire,
      seen,
      sessions: app.get<SessionAuthService>('staff'),
      context: new WireContext(),
    };
  }

  const ANN = 'ann own-token own-token ann';
  const BOB = 'bob partner-token partner-token bob';
  const NO_USER = 'none none none none';

  function bothSignedIn(running: Running): void {
    running.own.signInAs({ username: 'ann' }, 'own-token');
    running.partners.signInAs({ username: 'bob' }, 'partner-token');
    running.context.presented = { own: 'own-token', partner: 'partner-token' };
  }

  it.each([
    ['with the cache cold and warm', { ttlMs: 60_000 }],
    ['without a cache', false as const],
  ])(
    'an event gives each of its handlers the user, the token and the session of its own admission, %s [P44]',
    async (_case, cache) => {
      const running = await start(cache);
      bothSignedIn(running);
      for (const round of ['cold', 'warm']) {
        running.seen.by.clear();
        await running.wire.deliver('hired', {}, running.context);
        const seen = { staff: ANN, partners: BOB, optional: ANN, open: NO_USER };
        expect([round, Object.fromEntries(running.seen.by)]).toEqual([round, seen]);
      }
    },
  );

  it('an event gives no handler the session of the handler before or after it, in another order [P44]', async () => {
    const running = await start();
    bothSignedIn(running);
    for (const round of ['cold', 'warm']) {
      running.seen.by.clear();
      await running.wire.deliver('left', {}, running.context);
      expect([round, Object.fromEntries(running.seen.by)]).toEqual([
        round,
        {
          optionalFirst: 'ann own-token none ann',
          openNext: NO_USER,
          partnersLast: 'bob partner-token none bob',
        },
      ]);
    }
  });

  it('an event gives the handlers that Nest creates for each message the users of their own admissions [P44]', async () => {
    const running = await start();
    bothSignedIn(running);
    for (const round of ['cold', 'warm']) {
      running.seen.by.clear();
      await running.wire.deliver('moved', {}, running.context);
      const seen = {
        scopedPartners: 'bob partner-token none bob',
        scopedStaff: 'ann own-token none ann',
        scopedOpen: NO_USER,
      };
      expect([round, Object.fromEntries(running.seen.by)]).toEqual([round, seen]);
    }
  });

  it('an event whose token one service refuses lends no handler the session of another one [P44]', async () => {
    const running = await start();
    bothSignedIn(running);
    running.context.presented = { own: 'refused', partner: 'partner-token' };
    await running.wire.deliver('left', {}, running.context);
    const partnersLast = 'bob partner-token none bob';
    expect(Object.fromEntries(running.seen.by)).toEqual({
      optionalFirst: NO_USER,
      openNext: NO_USER,
      partnersLast,
    });

    running.seen.by.clear();
    running.context.presented = { own: 'own-token', partner: 'refused' };
    expect(await running.wire.deliver('hired', {}, running.context)).toBe('SESSION_REJECTED');
    // Nest may leave out the other handlers of an event once one of them is denied.
    expect({ staff: ANN, optional: ANN, open: NO_USER }).toMatchObject(Object.fromEntries(running.seen.by));
  });

  it('a handler that waits for its check gets its own user, also if the other handlers of the event are admitted meanwhile [P44]', async () => {
    const running = await start();
    bothSignedIn(running);
    const held = hold(json({ username: 'bob' }));
    running.partners.on('user_details', held.script);
    const delivered = running.wire.deliver('hired', {}, running.context);
    await held.arrived;
    held.release();
    await delivered;
    expect(Object.fromEntries(running.seen.by)).toEqual({
      staff: ANN,
      partners: BOB,
      optional: ANN,
      open: NO_USER,
    });
  });

  it.each([
    ['an object of its own', () => ({})],
    ['the same text', () => 'text'],
    ['nothing', () => undefined],
  ])(
    'each message stands for itself where all share one context, with %s as its data [P27]',
    async (_data, dataOf) => {
      const { own, wire, context, sessions } = await start();
      own.signInAs({ username: 'ann' }, 'own-token');
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
    const users = (await Promise.all(answers)).map((saw) => String(saw).split(' ').slice(0, 3));
    expect(users).toEqual(names.map((name) => [name, name, name]));
  });
});

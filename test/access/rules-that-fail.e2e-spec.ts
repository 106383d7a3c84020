import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  HttpException,
  Injectable,
  InternalServerErrorException,
  Scope,
} from '@nestjs/common';
import {
  Authorize,
  SessionAuthEvents,
  type AuthorizationPolicy,
  type SessionAuthDecision,
} from 'nestjs-session-auth';
import type { Subscription } from 'rxjs';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import {
  openingsWith,
  overGraphql,
  overHttp,
  denialOver,
  overMessages,
  overSocket,
  startEveryKind,
  type Call,
  type EveryKind,
} from './every-kind.js';

/** In the message of every error here: it must not reach a caller, nor the log. */
const SECRET = 'postgres://app:hunter2@db';
const PATIENT_MS = 30_000;
/** Each must be denied: a denial that holds now and then is none. */
const CALLS = 10;
class DatabaseError extends Error {}

let rule: () => unknown = () => true;
let ran = 0;

@Injectable()
class FailingPolicy implements AuthorizationPolicy {
  allows(): boolean {
    return rule() as boolean;
  }
}

/** Resolved for each call. */
@Injectable({ scope: Scope.TRANSIENT })
class ScopedPolicy extends FailingPolicy {}

const run = (): string => {
  ran += 1;
  return 'in';
};

@Controller()
class OthersController {
  @Get('scoped') @Authorize(ScopedPolicy) scoped(): string {
    return run();
  }

  @Get('inline') @Authorize(() => rule() as boolean) inline(): string {
    return run();
  }
}

const { controllers, providers } = openingsWith(Authorize(FailingPolicy), run);

const KINDS: [kind: string, call: Call, handler: string][] = [
  ['a controller', overHttp('/openings'), 'OpeningsController.list'],
  ['a controller with a scoped policy', overHttp('/scoped'), 'OthersController.scoped'],
  ['a controller with a function', overHttp('/inline'), 'OthersController.inline'],
  ['a resolver', overGraphql('openings'), 'OpeningsResolver.openings'],
  ['a gateway', overSocket('openings'), 'OpeningsGateway.message'],
  ['a message handler', overMessages('openings'), 'OpeningsController.message'],
];

const raise = (error: unknown): never => {
  throw error;
};

/** Ways in which a rule fails, and what the log says of each. */
const FAILURES: [what: string, fails: () => unknown, logged: string, timeoutMs?: number][] = [
  ['rejects', () => Promise.reject(new DatabaseError(SECRET)), 'failed with DatabaseError'],
  [
    'throws an exception of 500',
    () => raise(new InternalServerErrorException()),
    'failed with InternalServerErrorException',
  ],
  ['never settles', () => new Promise(() => undefined), 'took longer than timeoutMs', 1_500],
];

const HIDDEN = { statusCode: 404, code: 'NO_SUCH_OPENING', message: 'There is no such opening' };

describe.each(platforms('Fastify'))('a rule of an application on %s', (_name, platform) => {
  let every: EveryKind;
  const log = new CapturedLog();
  const decisions: SessionAuthDecision[] = [];
  const strays: unknown[] = [];
  const note = (reason: unknown): void => void strays.push(reason);

  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  beforeEach(() => {
    log.lines.length = 0;
    decisions.length = 0;
    ran = 0;
  });
  afterEach(() => expect(strays).toEqual([]));

  function withApplication(timeoutMs = PATIENT_MS): void {
    let subscription: Subscription;
    beforeAll(async () => {
      const sample = {
        options: { timeoutMs },
        controllers: [...controllers, OthersController],
        providers: [...providers, FailingPolicy, ScopedPolicy],
      };
      every = await startEveryKind(platform, sample, log);
      subscription = every.app.app
        .get(SessionAuthEvents)
        .decisions$.subscribe((decision) => void decisions.push(decision));
    });
    afterAll(() => {
      subscription.unsubscribe();
      return every.close();
    });
  }

  describe.each(FAILURES)('that %s', (what, fails, logged, timeoutMs) => {
    withApplication(timeoutMs);
    const isOwn = what.includes('exception of 500');

    // In every kind of context, a rule that never settles is one that rejects at the end of its time.
    it.each(what === 'rejects' ? KINDS : KINDS.slice(0, 1))(
      'denies a call of %s with 503, and one log line has handler, rule and class [P34]',
      async (kind, call, handler) => {
        const token = every.service.signInAs({});
        rule = fails;
        const answers = await Promise.all(Array.from({ length: CALLS }, () => call(every, token)));

        for (const answer of answers) {
          const denial = isOwn
            ? { statusCode: 500 }
            : { statusCode: 503, code: 'ACCESS_CHECK_FAILED', retryAfterSeconds: 5 };
          expect(answer).toMatchObject(denialOver(kind, denial));
        }
        expect(JSON.stringify(answers)).not.toContain(SECRET);
        const lines = log.having('warn', 'rule failed');
        expect(lines).toHaveLength(1);
        expect(lines[0]).toMatch(new RegExp(`@Authorize\\(\\w+\\) of ${handler} ${logged}\\.`));
        expect(log.lines.join('\n')).not.toContain(SECRET);
        expect(decisions).toMatchObject(
          answers.map(() => ({ isAllowed: false, outcome: 'unavailable', code: 'ACCESS_CHECK_FAILED' })),
        );

        rule = () => true;
        await call(every, token);
        expect(ran).toBe(1);
      },
    );
  });

  describe('beside others', () => {
    withApplication();

    it.each(KINDS)(
      'that rejects with an exception answers a call of %s itself, in the form of the context, without a log line [P34]',
      async (kind, call) => {
        const token = every.service.signInAs({});
        rule = () => Promise.reject(new HttpException(HIDDEN, 404));
        expect(await call(every, token)).toMatchObject(denialOver(kind, HIDDEN));
        expect(ran).toBe(0);
        expect(log.having('warn', 'rule failed')).toEqual([]);
        expect(decisions).toMatchObject([{ isAllowed: false, outcome: 'forbidden', code: 'ACCESS_DENIED' }]);
      },
    );
  });
});

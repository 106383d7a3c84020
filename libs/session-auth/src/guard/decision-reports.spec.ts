import * as diagnostics from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { partsWith } from '../../../../test/support/session-parts.js';
import { DENIALS } from '../contract/diagnostics.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { AccessRules } from './access-rules.js';
import { Authorize, FreshSession, OptionalAuth, Public } from './access.decorators.js';
import { DecisionReports, type SessionAuthDecision } from './decision-reports.js';
import { type GuardedRequest } from './guarded-request.js';
import type { HttpRequest } from './http-request.js';
import { SessionReader, fromCookie, fromHeader } from './token-source.js';
import { SessionAuthGuard } from './session-auth.guard.js';

const ANN = Object.freeze({ username: 'ann' });
const BOB = Object.freeze({ username: 'bob' });
/** The answers of the session service, by token. */
const ANSWERS: Readonly<Record<string, Verdict<UserRecord>>> = {
  ann: { kind: 'authenticated', user: ANN },
  bob: { kind: 'authenticated', user: BOB },
  ended: UNAUTHENTICATED,
  refused: FORBIDDEN,
  outage: unavailable('server_error', 9),
};

class Routes {
  plain(): string {
    return 'plain';
  }
  @Public() open(): string {
    return 'open';
  }
  @OptionalAuth() optional(): string {
    return 'optional';
  }
  @Authorize(({ username }: UserRecord) => username === 'ann')
  ofAnn(): string {
    return 'ofAnn';
  }
  @Authorize(({ username }: UserRecord) => Promise.resolve(username === 'ann'))
  ofAnnLater(): string {
    return 'ofAnnLater';
  }
  @FreshSession() fresh(): string {
    return 'fresh';
  }
}

const handlers = Routes.prototype as unknown as Readonly<Record<keyof Routes, () => string>>;

/** A guard of real parts, whose session service answers by `ANSWERS`. */
function guardOf() {
  const asked: string[] = [];
  const decisions: SessionAuthDecision[] = [];
  const ask = ({ token }: { readonly token: string }): Promise<Verdict<UserRecord>> => {
    asked.push(token);
    return Promise.resolve(ANSWERS[token] ?? UNAUTHENTICATED);
  };
  const sources = [fromHeader('X-AUTH-TOKEN'), fromCookie('session')];
  const parts = partsWith(ask, {
    cache: {},
    rules: new AccessRules(),
    reader: new SessionReader({ sources, forwardAuthIv: true, maxTokenLength: 64 }),
    decisions: new DecisionReports({ observed: true, next: (each) => void decisions.push(each) }),
    replyOpened: () => undefined,
    causes: { occurred: () => undefined, recovered: () => undefined, areNone: true },
    ruleTimeoutMs: 60_000,
  });
  return { guard: new SessionAuthGuard(parts), verifier: parts.verifier, asked, decisions };
}

function call(handler: keyof Routes, headers: HttpRequest['headers'] = {}, request: GuardedRequest = {}) {
  const sent: Record<string, unknown> = {};
  const getHeader = (name: string): unknown => sent[name];
  const setHeader = (name: string, value: string): void => void (sent[name] = value);
  const reply = { headersSent: false, getHeader, setHeader };
  Object.assign(request, { method: 'POST', headers });
  const context = new ExecutionContextHost([request, reply], Routes, handlers[handler]);
  context.setType('http');
  return { context, request, sent };
}

const presenting = (token: string): HttpRequest['headers'] => ({ 'x-auth-token': token });

/** How a guard decided: `true`, or the status and the code of the denial. */
async function decided(
  { guard }: { readonly guard: SessionAuthGuard },
  { context }: { readonly context: ExecutionContextHost },
): Promise<unknown> {
  try {
    return await guard.canActivate(context);
  } catch (error) {
    const { statusCode, code } = error as { statusCode: number; code: string };
    return `${statusCode} ${code}`;
  }
}

const REJECTED = '401 SESSION_REJECTED';
const REQUIRED = '401 SESSION_REQUIRED';
const DENIED = '403 ACCESS_DENIED';
const UNAVAILABLE = '503 SESSION_SERVICE_UNAVAILABLE';

const HANDLERS = ['plain', 'optional', 'ofAnn', 'ofAnnLater', 'fresh'] as const;
const unlessOptional = (outcome: string): unknown[] => [outcome, true, outcome, outcome, outcome];

describe('the guard', () => {
  it.each<[string, HttpRequest['headers'], readonly unknown[]]>([
    ['of ann', presenting('ann'), [true, true, true, true, true]],
    ['of bob', presenting('bob'), [true, true, DENIED, DENIED, true]],
    ['that has ended', presenting('ended'), unlessOptional(REJECTED)],
    ['that the service refuses', presenting('refused'), Array(5).fill(DENIED)],
    ['during an outage', presenting('outage'), Array(5).fill(UNAVAILABLE)],
    ['without a token', {}, unlessOptional(REQUIRED)],
    ['with a malformed token', presenting('a b'), unlessOptional(REJECTED)],
    ['with a malformed IV', { ...presenting('ann'), 'x-auth-iv': 'a b' }, unlessOptional(REJECTED)],
    [
      'in a cookie of another page',
      { cookie: 'session=ann', origin: 'https://evil.example', host: 'app.example.com' },
      Array(5).fill('403 CROSS_ORIGIN_DENIED'),
    ],
  ])('decides on a session %s for each rule', async (_name, headers, outcomes) => {
    const decisions = await Promise.all(
      HANDLERS.map((handler) => decided(guardOf(), call(handler, headers))),
    );
    expect(decisions).toEqual(outcomes);
  });

  it('admits every call of a public handler, without a call to the service or a decision', () => {
    const parts = guardOf();
    const { context, sent } = call('open', presenting('ended'));
    expect(parts.guard.canActivate(context)).toBe(true);
    expect([parts.asked, parts.decisions, sent]).toEqual([[], [], {}]);
  });

  it('returns no promise for a cached session', async () => {
    const parts = guardOf();
    await parts.guard.canActivate(call('plain', presenting('ann')).context);
    expect(parts.guard.canActivate(call('ofAnn', presenting('ann')).context)).toBe(true);
    expect(parts.asked).toEqual(['ann']);
  });

  it.each(['pigeon', '', '__proto__', 'HTTP'])(
    'denies a call of the unknown kind %j without reading it, and admits it to a public handler',
    async (type) => {
      const parts = guardOf();
      const outcomeOf = (handler: keyof Routes): Promise<unknown> => {
        const context = new ExecutionContextHost([], Routes, handlers[handler]);
        return decided(parts, { context: Object.assign(context, { getType: () => type }) });
      };
      expect([await outcomeOf('plain'), await outcomeOf('optional')]).toEqual([DENIED, DENIED]);
      expect(await outcomeOf('open')).toBe(true);
      expect(parts.asked).toEqual([]);
    },
  );

  it('gives the user of the session to an admitted request, and none to a request without a session', async () => {
    const parts = guardOf();
    const [withSession, without] = [call('optional', presenting('ann')), call('optional', {}, { user: BOB })];
    await decided(parts, withSession);
    await decided(parts, without);
    expect([withSession.request.user, without.request.user]).toEqual([ANN, undefined]);
  });

  it('gives no user to a denied request', async () => {
    const denied = call('ofAnn', presenting('bob'));
    expect([await decided(guardOf(), denied), denied.request.user]).toEqual([DENIED, undefined]);
  });

  it('checks a call once, however many guards it passes, until a session is revoked', async () => {
    const parts = guardOf();
    const passing = call('plain', presenting('ann'));
    await decided(parts, passing);
    expect([await decided(parts, passing), parts.decisions.length]).toEqual([true, 1]);
    await parts.verifier.revoker.evict('bob');
    expect([await decided(parts, passing), parts.decisions.length]).toEqual([true, 2]);
  });

  it('reuses the check of one call of a request for the next', async () => {
    const parts = guardOf();
    const { request } = call('fresh', presenting('ann'));
    await decided(parts, call('fresh', presenting('ann'), request));
    await decided(parts, call('fresh', presenting('ann'), request));
    expect(parts.asked).toEqual(['ann']);
  });

  it('reuses no check for a fresh handler that joined the call of another request', async () => {
    const parts = guardOf();
    const { context, request } = call('plain', presenting('ann'));
    const other = call('plain', presenting('ann'));
    await Promise.all([decided(parts, other), decided(parts, { context })]);
    expect(parts.asked).toEqual(['ann']);
    await decided(parts, call('fresh', presenting('ann'), request));
    expect(parts.asked).toEqual(['ann', 'ann']);
  });
});

describe('a decision', () => {
  it('has one copy of the record of a cached session, and cannot be changed', async () => {
    const parts = guardOf();
    for (let time = 0; time < 2; time += 1) await decided(parts, call('plain', presenting('ann')));
    const [first, second] = parts.decisions;
    expect(first?.user).toBe(second?.user);
    expect(first?.user).not.toBe(ANN);
    expect([first, first?.user].every(Object.isFrozen)).toBe(true);
  });
});

it('a denial is published with its code', async () => {
  const published: unknown[] = [];
  const listener = (message: unknown): void => void published.push(message);
  diagnostics.subscribe(DENIALS.name, listener);
  await decided(guardOf(), call('plain'));
  diagnostics.unsubscribe(DENIALS.name, listener);
  expect(published).toEqual([{ code: 'SESSION_REQUIRED' }]);
});

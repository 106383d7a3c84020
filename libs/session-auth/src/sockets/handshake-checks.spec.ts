import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { Deadlines } from '../client/deadline.js';
import {
  ACCESS_DENIED,
  CROSS_ORIGIN_DENIED,
  SESSION_REJECTED,
  SESSION_REQUIRED,
} from '../contract/denials.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { SessionReader } from '../guard/session-reader.js';
import { fromCookie, fromHeader, type TokenSource } from '../guard/token-source.js';
import { handshakeRequest } from '../guard/http-request.js';
import { SessionCache } from '../verifier/session-cache.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource, sessionEnds } from '../module/events/event-source.js';
import { HandshakeChecks } from './handshake-checks.js';

const ANN: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } };
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const CACHE = { ttlMs: 100, negativeTtlMs: 100, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 10_000 };
const SETTINGS = { recheckMs: 60_000, outageGraceMs: 1 };
const BUSY = { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'busy', retryAfterSeconds: 5 };
const TOKEN = { 'x-auth-token': 'token' };
const SESSION = { token: 'token', authIv: undefined };

const contexts: ExecutionContext[] = [];
const client = {};
const application: TokenSource = (context) => void contexts.push(context);
let nowMs: number;
let calls: ((verdict: Verdict<UserRecord>) => void)[];
let checks: HandshakeChecks;
let outcomes: unknown[];

const answer = async (verdict: Verdict<UserRecord>): Promise<void> => {
  calls.at(-1)?.(verdict);
  await new Promise(setImmediate);
};
const begin = (
  headers: Record<string, string> = TOKEN,
  outageGraceMs = 1,
): ReturnType<HandshakeChecks['begin']> =>
  checks.begin({
    client,
    request: handshakeRequest({ headers }),
    settings: { ...SETTINGS, outageGraceMs },
    settle: (outcome) => outcomes.push(outcome),
  });

beforeEach(() => {
  [nowMs, calls, outcomes, contexts.length] = [1_000, [], [], 0];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
  const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS), {
    cache: new SessionCache<UserRecord>(CACHE),
  });
  const sources = [application, fromHeader('x-auth-token'), fromCookie('sid')];
  const reader = new SessionReader({ sources, forwardAuthIv: false, maxTokenLength: 100 });
  checks = new HandshakeChecks({
    verifier,
    reader,
    ends: sessionEnds(new EventSource(), verifier),
  } as unknown as GuardParts);
  expect(checks.challenges).toBe(reader.challenges);
});
afterEach(() => void jest.restoreAllMocks());

describe('a handshake', () => {
  it.each<[string, Record<string, string>, object]>([
    ['no token', {}, SESSION_REQUIRED],
    ['a malformed token', { 'x-auth-token': 'not a token' }, SESSION_REJECTED],
    [
      'a cookie that a page of another origin sends',
      { cookie: 'sid=token', host: 'a.example', origin: 'https://b.example' },
      CROSS_ORIGIN_DENIED,
    ],
  ])('with %s is denied at once, without a call', (_name, headers, denial) => {
    expect([begin(headers), outcomes, calls, checks.waiting.size]).toEqual([undefined, [denial], [], 0]);
  });

  it('is a call in a context of its client for the token sources of an application', () => {
    begin({});
    const [context] = contexts;
    expect([context?.getType(), context?.getArgs(), contexts.length]).toEqual([
      'ws',
      [client, undefined, 'connection'],
      1,
    ]);
    expect(context?.switchToWs().getClient()).toBe(client);
    expect(context?.switchToWs().getPattern()).toBe('connection');
  });

  it.each<[Verdict<UserRecord>, object]>([
    [ANN, { session: SESSION, verdict: ANN }],
    [UNAUTHENTICATED, SESSION_REJECTED],
    [FORBIDDEN, ACCESS_DENIED],
    [unavailable('server_error', 9), { statusCode: 503, reason: 'server_error', retryAfterSeconds: 9 }],
  ])('waits for its verdict, and is settled by it: $kind', async (verdict, outcome) => {
    expect(begin()).toBeDefined();
    expect([outcomes, checks.waiting.size]).toEqual([[], 1]);
    await answer(verdict);
    expect([outcomes, checks.waiting.size]).toMatchObject([[outcome], 0]);
  });

  it.each<[Verdict<UserRecord>, object]>([
    [ANN, { session: SESSION, verdict: ANN }],
    [UNAUTHENTICATED, SESSION_REJECTED],
  ])('of a cached session is settled at once: $kind', async (verdict, outcome) => {
    begin(TOKEN, 0);
    await answer(verdict);
    expect(begin(TOKEN, 0)).toBeUndefined();
    expect([outcomes, calls.length, checks.waiting.size]).toMatchObject([[outcome, outcome], 1, 0]);
  });

  it.each([
    [0, { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'unreachable' }],
    [1, { session: SESSION, verdict: { ...ANN, stale: true } }],
  ])('of a stale session is settled as an outage, with a grace of %i ms', async (outageGraceMs, outcome) => {
    begin();
    await answer(ANN);
    nowMs += CACHE.ttlMs;
    begin(TOKEN, outageGraceMs);
    await answer(unavailable('server_error'));
    expect(outcomes).toMatchObject([{}, outcome]);
  });

  it('is settled once, if it ends before its verdict', async () => {
    const waiting = begin();
    waiting?.end(ACCESS_DENIED);
    waiting?.end(SESSION_REJECTED);
    expect([outcomes, checks.waiting.size]).toEqual([[ACCESS_DENIED], 0]);
    await answer(ANN);
    expect(outcomes).toEqual([ACCESS_DENIED]);
  });

  it('of one session waits with 1023 others at most', async () => {
    const waiting = Array.from({ length: 1024 }, () => begin());
    expect([outcomes.length, checks.waiting.size]).toEqual([0, 1024]);
    expect(begin()).toBeUndefined();
    expect(outcomes).toMatchObject([BUSY]);

    expect(begin({ 'x-auth-token': 'other' })).toBeDefined();
    waiting[0]?.end(SESSION_REJECTED);
    expect(begin()).toBeDefined();
    expect([outcomes.length, checks.waiting.size, calls.length]).toEqual([2, 1025, 2]);
    calls[0]?.(ANN);
    await answer(UNAUTHENTICATED);
    expect([outcomes.length, checks.waiting.size]).toEqual([1027, 0]);
  });
});

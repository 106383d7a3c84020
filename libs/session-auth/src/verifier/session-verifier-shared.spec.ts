import { describe, expect, it } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import type { LaneName } from '../contract/diagnostics.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { SessionCache } from './session-cache.js';
import { Lanes } from './lanes.js';
import { SessionVerifier } from './session-verifier.js';
import type { ServiceCall, SharedTier } from './shared-tier.js';

const session = { token: 'token', authIv: undefined };
const TOKEN_KEY = tokenKeyOf('token');
const ann: Verdict<object> = { kind: 'authenticated', user: { username: 'ann' } };
const user = { username: 'ann from the store' };
const stored: Verdict<object> = { kind: 'authenticated', user, confirmedAtMs: performance.now() };
const breaker = { windowMs: 60_000, minimumCalls: 1, failureRatio: 1, pauseMs: 60_000, maxPauseMs: 60_000 };
const LIMITS = { ttlMs: 60_000, negativeTtlMs: 0, maxEntries: 10, staleIfErrorMs: 0 };

/** A shared tier that answers with `stored`, or calls the service if there is none; it notes its uses. */
class NotingTier {
  readonly uses: string[] = [];
  stored: Verdict<object> | undefined;
  spentMs = 0;
  clearTombstone = (): Promise<void> => Promise.resolve();
  deliver = (): Promise<void> => Promise.resolve();
  refused = (): Promise<void> => Promise.resolve();

  check = (_session: unknown, _keys: unknown, call: ServiceCall<object>) => this.#use('check', call);
  refresh = (_session: unknown, _keys: unknown, call: ServiceCall<object>) => this.#use('refresh', call);

  #use(name: string, call: ServiceCall<object>): Promise<Verdict<object>> {
    this.uses.push(name);
    return this.stored ? Promise.resolve(this.stored) : call(this.spentMs);
  }
}

function verifierWith({ refreshAheadMs = 0 } = {}) {
  const service: { answer: Verdict<object>; calls: number } = { answer: ann, calls: 0 };
  const ask = (): Promise<Verdict<object>> => Promise.resolve(((service.calls += 1), service.answer));
  const opened: LaneName[] = [];
  const breakerChanged = (lane: LaneName, state: string): unknown => state === 'open' && opened.push(lane);
  const settings = { timeoutMs: 3_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10, breaker };
  const check = new Lanes(ask, new Deadlines(), settings, { breakerChanged });
  const tier = new NotingTier();
  const cache = new SessionCache<object>({ ...LIMITS, refreshAheadMs });
  const verifier = new SessionVerifier(check, { cache, shared: tier as unknown as SharedTier<object> });
  return { service, opened, check, tier, verifier };
}

describe('a check with a store', () => {
  it('uses the store, and caches its answer', async () => {
    const { service, tier, verifier } = verifierWith();
    tier.stored = stored;
    expect(await verifier.verify(session)).toEqual(stored);
    expect(verifier.verify(session)).toMatchObject({ user: { username: 'ann from the store' } });
    expect([tier.uses, service.calls]).toEqual([['check'], 0]);
  });

  it('is answered by the service if it has a limit: the store is not asked', async () => {
    const { service, tier, verifier } = verifierWith();
    tier.stored = stored;
    expect(await verifier.verify(session, 1_000)).toEqual(ann);
    expect([tier.uses, service.calls]).toEqual([[], 1]);
  });

  it('is answered by the service after a sign-out: a writer of the store could restore the old entry', async () => {
    const { service, tier, verifier } = verifierWith();
    tier.stored = stored;
    service.answer = UNAUTHENTICATED;
    verifier.revoker.signedOut('token');
    expect(await verifier.verify(session)).toEqual(UNAUTHENTICATED);
    expect([tier.uses, service.calls]).toEqual([[], 1]);
    expect(await verifier.verify({ ...session, token: 'another' })).toEqual(stored);
  });

  it('does not satisfy a later limit of the request', async () => {
    const { tier, verifier } = verifierWith();
    tier.stored = stored;
    const earlier = verifier.check(session);
    await earlier.verdict;
    const later = verifier.check(session, 0, earlier);
    expect([earlier.isFresh, later === earlier, await later.verdict]).toEqual([false, false, ann]);
    expect(verifier.check(session, 0, later)).toBe(later);
  });

  it('joins no call that was made for a check with a limit, nor the reverse', async () => {
    const { service, tier, verifier } = verifierWith();
    await Promise.all([verifier.verify(session), verifier.verify(session, 1_000), verifier.verify(session)]);
    expect([tier.uses, service.calls]).toEqual([['check'], 2]);
  });

  it('makes no call if the store has used up its time', async () => {
    const { service, tier, verifier } = verifierWith();
    tier.spentMs = 2_900;
    expect(await verifier.verify(session)).toEqual(unavailable('busy', 1));
    expect(service.calls).toBe(0);
  });
});

describe('the lane of a check with a store', () => {
  it('is that of strangers until the session is known', async () => {
    const { service, opened, verifier } = verifierWith();
    service.answer = unavailable('server_error');
    await verifier.verify(session);
    expect(opened).toEqual(['strangers']);
  });

  it('is that of known sessions for a refresh, even of a session that is no longer known', async () => {
    const { service, opened, check, tier, verifier } = verifierWith({ refreshAheadMs: 60_000 });
    await verifier.verify(session);
    check.known.delete(TOKEN_KEY);
    service.answer = unavailable('server_error');
    expect(verifier.verify(session)).toMatchObject(ann);
    await new Promise(setImmediate);
    expect([tier.uses, opened[0]]).toEqual([['check', 'refresh'], 'known']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Deadlines } from '../../client/deadline.js';
import type { SessionClient } from '../../client/session-client.js';
import { UNAUTHENTICATED, type Verdict } from '../../contract/outcome.js';
import { AccessDeniedError, CredentialsRejectedError } from '../../exceptions/session-exceptions.js';
import { authorityOfError } from '../../guard/denial.js';
import { SessionCache } from '../../verifier/session-cache.js';
import { Lanes } from '../../verifier/lanes.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { SessionAuthService } from './session-auth.service.js';

const LIMITS = { ttlMs: 60_000, negativeTtlMs: 60_000, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };
const LANES = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const CREDENTIALS = { username: 'ann', password: 'secret' };
const USER = { username: 'ann' };

/** The service of an authority whose session service refuses everything, or nothing. */
function serviceThat(isRefusing: boolean, authority = 'partners'): SessionAuthService<object> {
  const client = {
    signIn: async () =>
      isRefusing ? Promise.reject(new CredentialsRejectedError()) : Promise.resolve({ kind: 'accepted' }),
    signOut: async () => (isRefusing ? Promise.reject(new AccessDeniedError()) : Promise.resolve()),
  } as unknown as SessionClient<object>;
  const verdict: Verdict<object> = isRefusing ? UNAUTHENTICATED : { kind: 'authenticated', user: USER };
  const deadlines = new Deadlines();
  const cache = new SessionCache<object>(LIMITS);
  const verifier = new SessionVerifier(new Lanes(() => Promise.resolve(verdict), deadlines, LANES), {
    cache,
  });
  const settings = { signInTimeoutMs: 1_000, signOutTimeoutMs: 1_000, maxSignIns: 1, maxTokenLength: 5 };
  return new SessionAuthService(client, verifier, deadlines, { ...settings, authority });
}

type Call = (
  service: SessionAuthService<object>,
  options?: { readonly signal: AbortSignal },
) => Promise<unknown>;

const CALLS: [string, Call, string, unknown][] = [
  [
    'signIn',
    (service, options) => service.signIn(CREDENTIALS, options),
    'CREDENTIALS_REJECTED',
    { kind: 'accepted' },
  ],
  ['signOut', (service, options) => service.signOut('token', options), 'ACCESS_DENIED', undefined],
  ['userDetails', (service, options) => service.userDetails('token', options), 'SESSION_REJECTED', USER],
  ['verify', (service, options) => service.verify('token', options), 'SESSION_REJECTED', USER],
];

const errorOf = (work: Promise<unknown>): Promise<object> =>
  work.then(
    () => ({}),
    (error: unknown) => error as object,
  );

describe.each(CALLS)('%s() of an authority', (_name, call, code, result) => {
  it('with a name notes it on the errors that it throws', async () => {
    const error = await errorOf(call(serviceThat(true)));
    expect([error, authorityOfError(error)]).toEqual([expect.objectContaining({ code }), 'partners']);
  });

  it('without a name notes none', async () => {
    const error = await errorOf(call(serviceThat(true, 'default')));
    expect([error, authorityOfError(error)]).toEqual([expect.objectContaining({ code }), undefined]);
  });

  it.each(['partners', 'default'])('has its result: %s', async (authority) => {
    expect(await call(serviceThat(false, authority))).toEqual(result);
  });

  it('has its options, and notes nothing on the reason of an abort', async () => {
    const reason = new Error('the client has left');
    const error = await errorOf(call(serviceThat(false), { signal: AbortSignal.abort(reason) }));
    expect([error, authorityOfError(error)]).toEqual([reason, undefined]);
  });
});

describe('forget() of a named authority', () => {
  it('evicts the session, and notes the name on its errors', async () => {
    const service = serviceThat(false);
    await service.verify('token');
    await service.forget('token');
    expect(service.countCached()).toBe(0);
    const error = await errorOf(service.forget('to ken'));
    expect([error, authorityOfError(error)]).toEqual([
      expect.objectContaining({ code: 'SESSION_REJECTED' }),
      'partners',
    ]);
  });
});

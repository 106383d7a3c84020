import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { SessionClient } from '../client/session-client.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { SessionAuthOptions } from './options/options.js';
import { clientSetupOf, registrationOf } from './wiring.js';

const session = { token: 'token', authIv: undefined };
const PAUSE_MS = 1_000;
const breaker = { minimumCalls: 1, failureRatio: 1, pauseMs: PAUSE_MS, windowMs: 10_000 };

/** A registration whose service is down. */
async function registrationWith(options: Partial<SessionAuthOptions> = {}) {
  const modules = new ModulesContainer();
  const all = { baseUrl: 'http://service', apiKey: 'key', retry: false as const, breaker, ...options };
  const userDetails = jest.fn(() => Promise.resolve(unavailable('server_error')));
  const client = { userDetails } as unknown as SessionClient<UserRecord>;
  const registration = await registrationOf(await clientSetupOf(all, {}, modules), client, modules);
  return { ...registration, userDetails, breakers: () => registration.events.serviceStatus.value.breakers };
}

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('a registration', () => {
  it('reads tokens of the length that its options allow', async () => {
    const { guard } = await registrationWith({ http: { maxTokenLength: 5 } });
    const read = (token: string): unknown =>
      guard.reader.read(new ExecutionContextHost([]), { headers: { 'x-auth-token': token } });
    expect([read('12345'), read('123456')]).toEqual([
      { token: '12345', authIv: undefined },
      SESSION_REJECTED,
    ]);
  });

  it('calls the service with the session, in the time of its options', async () => {
    const { verifier, userDetails } = await registrationWith({ timeoutMs: 7_000 });
    await verifier.verify(session);
    expect(userDetails.mock.calls).toEqual([[session, expect.objectContaining({ remainingMs: 7_000 })]]);
  });

  it('emits the ends of sessions', async () => {
    const { verifier, events } = await registrationWith();
    const [ended, users]: unknown[][] = [[], []];
    events.ended.subscribe((fingerprint) => ended?.push(fingerprint));
    events.forgottenUsers.subscribe((username) => users?.push(username));
    verifier.revoker.signedOut('token');
    void verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    void verifier.revoker.apply({ kind: 'allRevoked' });
    expect([ended, users]).toEqual([[events.fingerprintOf(tokenKeyOf('token'))], ['ann', undefined]]);
  });

  it('reports no state of a breaker after the application has shut down', async () => {
    const { verifier, events, breakers } = await registrationWith();
    await verifier.callService(session);
    events.complete();
    jest.advanceTimersByTime(PAUSE_MS * 2);
    expect(breakers()).toEqual({ known: 'closed', strangers: 'open' });
  });

  it.each<[NonNullable<SessionAuthOptions['cache']>, number]>([
    [{ ttlMs: 1_000, maxEntries: 20_000 }, 20_000],
    [{ ttlMs: 1_000, maxEntries: 10 }, 10_000],
  ])('knows as many sessions as are cached (%j), and 10 000 at least', async (cache, capacity) => {
    for (const [signIns, known] of [
      [capacity, 'open'],
      [capacity + 1, 'closed'],
    ] as const) {
      const { verifier, breakers } = await registrationWith({ cache });
      for (let index = 0; index < signIns; index += 1)
        verifier.revoker.signedIn(`token ${index}`, { username: `user ${index}` });
      await verifier.verify({ token: 'token 0', authIv: undefined });
      expect(breakers()).toEqual({ known, strangers: 'open' });
    }
  });
});

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { SessionClient } from '../client/session-client.js';
import { BREAKER_CHANNEL } from '../contract/diagnostics.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { SessionAuthOptions } from './options/options.js';
import { clientSetupOf, registrationOf } from './wiring.js';

const session = { token: 'token', authIv: undefined };
const ANN: Verdict<object> = { kind: 'authenticated', user: { username: 'ann' } };
const DOWN = unavailable('server_error');
const BREAKER_OPTIONS = { minimumCalls: 1, failureRatio: 1, pauseMs: 1_000, windowMs: 10_000 };

const subscriptions: [string, (message: unknown) => void][] = [];
/** The messages of a channel from now on. */
function messagesOf(channel: string): unknown[] {
  const messages: unknown[] = [];
  const note = (message: unknown): void => void messages.push(message);
  subscriptions.push([channel, note]);
  subscribe(channel, note);
  return messages;
}

let warnings: string[];
let errors: string[];
beforeEach(() => {
  jest.useFakeTimers();
  [warnings, errors] = [[], []];
  jest
    .spyOn(Logger.prototype, 'warn')
    .mockImplementation((line: unknown) => void warnings.push(String(line)));
  jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void errors.push(String(line)));
});
afterEach(() => {
  for (const subscription of subscriptions.splice(0)) unsubscribe(...subscription);
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** The verifier of a registration whose service answers as the test says. */
async function verifierOf(options: Partial<SessionAuthOptions> = {}) {
  const [modules, asked] = [new ModulesContainer(), [] as unknown[]];
  const all = { baseUrl: 'http://service', apiKey: 'key', retry: false as const, ...options };
  const connection = await clientSetupOf(all, {}, modules);
  const service: { answer: Verdict<object> } = { answer: ANN };
  const userDetails = (...call: unknown[]): Promise<Verdict<object>> => (
    asked.push(call),
    Promise.resolve(service.answer)
  );
  const client = { userDetails } as unknown as SessionClient<UserRecord>;
  const { verifier, events } = await registrationOf(connection, client, modules);
  return { verifier, service, events, asked, status: () => events.serviceStatus.value };
}

describe('the verifier of a registration', () => {
  it('calls the service with the session and its deadline', async () => {
    const { verifier, asked } = await verifierOf({ timeoutMs: 7_000 });
    expect(await verifier.verify(session)).toEqual(ANN);
    expect(asked).toEqual([
      [session, expect.objectContaining({ remainingMs: expect.any(Number) as unknown })],
    ]);
    expect([(asked[0] as [unknown, { remainingMs: number }])[1].remainingMs, verifier.countCached()]).toEqual(
      [7_000, 0],
    );
  });

  it('emits the ends of sessions', async () => {
    const { verifier, events } = await verifierOf();
    const [ended, users]: unknown[][] = [[], []];
    events.ended.subscribe((fingerprint) => ended?.push(fingerprint));
    events.forgottenUsers.subscribe((username) => users?.push(username));
    verifier.revoker.signedOut('token');
    void verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    void verifier.revoker.apply({ kind: 'allRevoked' });
    expect([ended, users]).toEqual([[events.fingerprintOf(tokenKeyOf('token'))], ['ann', undefined]]);
  });

  it('suspects the configuration if every token is refused, until one is not', async () => {
    const { verifier, service, status } = await verifierOf();
    service.answer = UNAUTHENTICATED;
    for (let index = 0; index < 20; index += 1)
      await verifier.verify({ ...session, token: `token ${index}` });
    expect([status().misconfigurationSuspected, status().state, errors]).toEqual([
      true,
      'degraded',
      [expect.any(String)],
    ]);
    service.answer = ANN;
    await verifier.verify(session);
    expect([status().misconfigurationSuspected, status().state, errors.length]).toEqual([false, 'up', 1]);
  });
});

describe('the breakers of a registration', () => {
  const options = { breaker: BREAKER_OPTIONS };

  it('report each of their states', async () => {
    const { verifier, service, status } = await verifierOf(options);
    const messages = messagesOf(BREAKER_CHANNEL);
    service.answer = DOWN;
    await verifier.callService(session);
    expect([status().breakers, status().state]).toEqual([{ known: 'closed', strangers: 'open' }, 'degraded']);
    jest.advanceTimersByTime(BREAKER_OPTIONS.pauseMs * 2);
    expect([status().breakers.strangers, messages]).toEqual([
      'halfOpen',
      ['open', 'halfOpen'].map((state) => ({ lane: 'strangers', state })),
    ]);
  });

  it('report nothing after the application has shut down', async () => {
    const { verifier, service, events } = await verifierOf(options);
    service.answer = DOWN;
    await verifier.callService(session);
    const messages = messagesOf(BREAKER_CHANNEL);
    events.complete();
    jest.advanceTimersByTime(BREAKER_OPTIONS.pauseMs * 2);
    expect([messages, events.serviceStatus.value.breakers.strangers]).toEqual([[], 'open']);
  });

  it.each<[SessionAuthOptions['cache'], number]>([
    [false, 10_000],
    [{ ttlMs: 1_000, maxEntries: 20_000 }, 20_000],
    [{ ttlMs: 1_000, maxEntries: 10 }, 10_000],
  ])(
    'distinguish known sessions: as many as are cached (%j), and 10 000 at least',
    async (cache, capacity) => {
      for (const [signIns, known] of [
        [capacity, 'open'],
        [capacity + 1, 'closed'],
      ] as const) {
        const { verifier, service, status } = await verifierOf({
          ...options,
          ...(cache !== undefined && { cache }),
        });
        for (let index = 0; index < signIns; index += 1)
          verifier.revoker.signedIn(`token ${index}`, { username: `user ${index}` });
        service.answer = DOWN;
        await verifier.verify({ ...session, token: 'token 0' });
        expect(status().breakers).toEqual({ known, strangers: 'open' });
      }
    },
  );
});

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { SessionClient } from '../client/session-client.js';
import { BREAKER_CHANNEL } from '../contract/diagnostics.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionAuthOptions } from './options/options.js';
import { clientSetupOf, registrationOf } from './wiring.js';

const session = { token: 'token', authIv: undefined };
const ANN: Verdict<object> = { kind: 'authenticated', user: { username: 'ann' } };
const DOWN = unavailable('server_error');
const BREAKER_OPTIONS = { minimumCalls: 1, failureRatio: 1, pauseMs: 1_000, windowMs: 10_000 };

const messages: unknown[] = [];
const note = (message: unknown): void => void messages.push(message);
beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  subscribe(BREAKER_CHANNEL, note);
});
afterEach(() => {
  unsubscribe(BREAKER_CHANNEL, note);
  messages.splice(0);
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** The verifier of a registration whose service answers as the test says. */
async function verifierOf(options: Partial<SessionAuthOptions> = {}) {
  const modules = new ModulesContainer();
  const all = { baseUrl: 'http://service', apiKey: 'key', retry: false as const, ...options };
  const connection = await clientSetupOf(all, {}, modules);
  const service: { answer: Verdict<object> } = { answer: ANN };
  const userDetails = (): Promise<Verdict<object>> => Promise.resolve(service.answer);
  const client = { userDetails } as unknown as SessionClient<UserRecord>;
  const { verifier, events } = await registrationOf(connection, client, modules);
  return { verifier, service, events, status: () => events.serviceStatus.value };
}

describe('the breakers of a registration', () => {
  const options = { breaker: BREAKER_OPTIONS };

  it('report nothing after the application has shut down', async () => {
    const { verifier, service, events } = await verifierOf(options);
    service.answer = DOWN;
    await verifier.callService(session);
    messages.splice(0);
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

import { describe, expect, it, jest } from '@jest/globals';
import type { Observable } from 'rxjs';
import { tokenKeyOf } from '../../contract/session-identity.js';
import { UP, type ServiceStatus } from '../../verifier/service-status.js';
import { EventSource } from './event-source.js';
import { SessionAuthEvents } from './session-auth-events.js';

const DOWN = { ...UP, state: 'down' } as unknown as ServiceStatus;

function eventsOf(): { source: EventSource; events: SessionAuthEvents } {
  const source = new EventSource();
  return { source, events: new SessionAuthEvents(source, () => undefined) };
}

/** The values that an observable emits from now on, until it completes. */
function listen(observable: Observable<unknown>): unknown[] {
  const received: unknown[] = [];
  observable.subscribe({ next: (value) => received.push(value), complete: () => received.push('completed') });
  return received;
}

describe('the fingerprint of a token', () => {
  it('has 32 hexadecimal digits, is that of its session, and differs for each token and in each process', () => {
    const [{ source, events }, other] = [eventsOf(), eventsOf()];
    const fingerprint = events.fingerprintOf('token');
    expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect([events.fingerprintOf('token'), source.fingerprintOf(tokenKeyOf('token'))]).toEqual([
      fingerprint,
      fingerprint,
    ]);
    expect([events.fingerprintOf('other'), other.events.fingerprintOf('token')]).not.toContain(fingerprint);
  });

  it('distinguishes tokens whose keys differ in any character', () => {
    const { source } = eventsOf();
    const fingerprints = ['\u00e4', '\u00e5', 'a'].map((key) => source.fingerprintOf(key as never));
    expect(new Set(fingerprints).size).toBe(3);
  });
});

describe('the events of a registration', () => {
  it('name each revoked session and user, and every user, to those who listen', () => {
    const { source, events } = eventsOf();
    const digest = jest.spyOn(source, 'fingerprintOf');
    source.emitEnded(tokenKeyOf('before'));
    expect(digest).not.toHaveBeenCalled();

    const [ended, users] = [listen(events.ended$), listen(events.forgottenUsers$)];
    source.emitEnded(tokenKeyOf('token'));
    source.forgottenUsers.next('ann');
    source.forgottenUsers.next(undefined);
    expect([ended, users]).toEqual([[events.fingerprintOf('token')], ['ann', undefined]]);
  });

  it('have the current state of the service, and each change of it', () => {
    const { source, events } = eventsOf();
    const states = listen(events.serviceState$);
    for (const status of [{ ...UP }, DOWN, { ...DOWN }, UP]) source.serviceStatus.next(status);
    expect(states).toEqual([UP.state, 'down', UP.state]);
    source.serviceStatus.next(DOWN);
    expect(events.serviceStatus).toBe(DOWN);
  });

  it('complete when the application shuts down', () => {
    const { source, events } = eventsOf();
    const received = [events.ended$, events.forgottenUsers$, events.serviceState$, events.decisions$].map(
      listen,
    );
    expect(source.isComplete).toBe(false);
    source.complete();
    expect(source.isComplete).toBe(true);
    expect(received.map((values) => values.at(-1))).toEqual(Array(4).fill('completed'));
  });
});

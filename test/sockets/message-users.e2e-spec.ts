import { afterEach, describe, expect } from '@jest/globals';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { json, reply } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { HoldingInterceptor } from './feed.gateway.js';
import { plainRow } from '../support/trial/row.js';
import { LIBRARIES, socketTrial } from './socket-trial.js';
import type { Attempt } from './socket-attempts.js';

const NO_USER = { public: 'no user', token: 'no token', body: 'object' };

describe.each(LIBRARIES)('messages on %s', (_name, library) => {
  const trial = socketTrial(library);
  let restore: (() => void)[] = [];
  afterEach(() => {
    HoldingInterceptor.held = Promise.resolve();
    for (const undo of restore.splice(0)) undo();
  });

  /** A socket whose messages may present tokens of their own. */
  async function open(): Promise<Attempt> {
    await trial.start({ breaker: false, token: [fromPayload('token'), fromHeader('x-auth-token')] });
    return trial.attempt(trial.service.signInAs({ username: 'server' }));
  }

  const answersTo = ({ heard }: Attempt): unknown[] =>
    heard
      .map((message) => JSON.parse(message) as { event: string; data: unknown } | [string, unknown])
      .map((message) => (Array.isArray(message) ? message : [message.event, message.data]))
      .filter(([event]) => event !== 'news')
      .map(([, data]) => data);

  async function ask(attempt: Attempt, event: string, data?: unknown): Promise<unknown> {
    const before = answersTo(attempt).length;
    attempt.send(event, data);
    await until(`an answer to ${event}`, () => answersTo(attempt).length > before);
    return answersTo(attempt)[before];
  }

  /** Shows that a message is denied, also where Nest tells its client nothing: the next answer is of the next message. */
  async function expectDenied(attempt: Attempt, event: string, data: unknown): Promise<void> {
    const before = trial.service.callsTo('user_details');
    attempt.send(event, data);
    await until('the check', () => trial.service.callsTo('user_details') > before);
  }

  plainRow('a public message after a refused one has no user and no token [P14]', async () => {
    const attempt = await open();
    const token = trial.service.signInAs({});
    expect(await ask(attempt, 'me', { token })).toMatchObject({ username: 'ann', token });
    trial.service.revoke(token);
    await expectDenied(attempt, 'me', { token });

    attempt.send('public', { token });
    await until('the answer', () => answersTo(attempt).some((answer) => JSON.stringify(answer) === JSON.stringify(NO_USER)));
  });

  plainRow('a public message has no user after messages that were let in, denied by a rule, or met an outage [P14]', async () => {
    const attempt = await open();
    const token = trial.service.signInAs({ role: 'new_hire' });
    const askPublic = async (): Promise<void> => {
      attempt.send('public', { token });
      await until('the answer', () => JSON.stringify(answersTo(attempt).at(-1)) === JSON.stringify(NO_USER));
    };

    await ask(attempt, 'me', { token });
    await askPublic();
    await expectDenied(attempt, 'managers', { token });
    await askPublic();
    trial.service.on('user_details', reply(500));
    await expectDenied(attempt, 'me', { token });
    await askPublic();
  });

  plainRow('an optional message with a refused token has no user, whatever came before it [P14]', async () => {
    const attempt = await open();
    const token = trial.service.signInAs({});
    expect(await ask(attempt, 'optional', { token })).toEqual({ optional: 'ann', token });
    trial.service.revoke(token);

    expect(await ask(attempt, 'optional', { token })).toEqual({ optional: 'no user', token: 'no token' });
  });

  plainRow(
    'a message keeps its own user while others with the same token are refused, and while others come with another [P14]',
    async () => {
      const attempt = await open();
      let release = (): void => undefined;
      HoldingInterceptor.held = new Promise((resolve) => (release = resolve));
      const tokens = Array.from({ length: 20 }, (_, index) => trial.service.signInAs({ username: `user-${index}` }));
      for (const token of tokens) attempt.send('held', { token });
      await until('the checks', () => trial.service.callsTo('user_details') === tokens.length + 1);
      for (const token of tokens) trial.service.revoke(token);
      for (const token of tokens) {
        attempt.send('me', { token });
        attempt.send('public', { token });
      }
      await until('the next checks', () => trial.service.callsTo('user_details') === 2 * tokens.length + 1);
      release();
      const held = (): unknown[] => answersTo(attempt).filter((answer) => JSON.stringify(answer).includes('held'));
      await until('the answers', () => held().length === tokens.length);

      expect(held()).toEqual(expect.arrayContaining(tokens.map((token, index) => ({ held: `user-${index}`, token }))));
      const open_ = answersTo(attempt).filter((answer) => JSON.stringify(answer).includes('public'));
      expect(open_).toEqual(tokens.map(() => NO_USER));
    },
  );

  plainRow('no map and no set holds the raw token of a socket or of a message [P15]', async () => {
    const [ofSocket, ofMessage] = ['raw-token-of-the-socket', 'raw-token-of-a-message'];
    const found: unknown[] = [];
    const look = (...values: unknown[]): void => void found.push(...values.filter((value) => value === ofSocket || value === ofMessage));
    restore = watchCalls([Map.prototype, 'set'], look).concat(watchCalls([Set.prototype, 'add'], look));
    await trial.start({ cache: { ttlMs: 10 }, token: [fromPayload('token'), fromHeader('x-auth-token')] });
    trial.service.on('user_details', json({ username: 'ann' }));
    const attempt = await trial.attempt(ofSocket);
    await ask(attempt, 'me');
    await ask(attempt, 'me', { token: ofMessage });
    await ask(attempt, 'optional', { token: ofMessage });

    expect(found).toEqual([]);
  });
});

/** Shows the arguments of every call of a method. @returns what ends that */
function watchCalls([target, method]: readonly [object, string], look: (...values: unknown[]) => void): (() => void)[] {
  const original = Reflect.get(target, method) as (...values: unknown[]) => unknown;
  Reflect.set(target, method, function (this: unknown, ...values: unknown[]) {
    look(...values);
    return original.apply(this, values);
  });
  return [() => void Reflect.set(target, method, original)];
}

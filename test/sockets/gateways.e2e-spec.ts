import { describe, expect, it as tried, afterEach, it } from '@jest/globals';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { reply, json } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { gatewayBed } from './gateway-bed.js';
import { SOCKET_LIBRARIES, type Message, type Peer } from './peers.js';
import { HoldingInterceptor } from './feed.gateway.js';
import { LIBRARIES, socketTrial } from './socket-trial.js';
import type { Attempt } from './socket-attempts.js';

describe.each(SOCKET_LIBRARIES)('gateways on %s', (...library) => {
  const bed = gatewayBed(library);
  // NestJS 11 does not send exceptions to clients of ws.
  const it = NEST_MAJOR === 11 && library[0] === 'ws' ? tried.skip : tried;

  /** A gateway whose messages carry their tokens themselves. */
  const connectToPayloadGateway = async (): Promise<Peer> => {
    await bed.start({ token: [fromHeader('x-auth-token'), fromPayload('token')] });
    return bed.connect();
  };

  const refusal = (statusCode: number, code: string): Message => [
    'exception',
    { status: 'error', statusCode, code, message: expect.any(String) },
  ];

  it('give the user and the token of the handshake to each message, for any payload', async () => {
    bed.plan.watch = {};
    bed.service.signInAs({}, 'good');
    await bed.start();
    const peer = await bed.connect({ headers: { 'x-auth-token': 'good' } });

    for (const payload of [{ some: 'payload' }, undefined, 5, 'text', ['a', 'b']]) {
      expect(await peer.ask('me', payload)).toEqual(['answer', { me: 'ann', token: 'good' }]);
    }
  });

  it('give the session of the handshake to each message, with its X-AUTH-IV', async () => {
    bed.plan.watch = {};
    bed.service.signInAs({}, 'good');
    await bed.start();
    const peer = await bed.connect({ headers: { 'x-auth-token': 'good', 'x-auth-iv': 'iv-1' } });

    expect(await peer.ask('me')).toEqual(['answer', { me: 'ann', token: 'good', iv: 'iv-1' }]);
  });

  it.each([
    ['that is protected', { watch: {} }, true],
    // The objects of ws say nothing of the request that opened their sockets.
    ['without protection', { watch: undefined }, library[0] === 'socket.io'],
  ])(
    'admit with SameOriginGuard no message of another origin, on a server %s',
    async (_case, plan, admitsItsOwn) => {
      Object.assign(bed.plan, plan);
      bed.service.signInAs({}, 'good');
      const { url } = await bed.start();
      const answerTo = async (origin: string): Promise<Message> =>
        (await bed.connect({ headers: { 'x-auth-token': 'good', origin } })).ask('own-page');

      expect(await answerTo('https://evil.example')).toEqual(refusal(403, 'CROSS_ORIGIN_DENIED'));
      expect(await answerTo(url)).toEqual(
        admitsItsOwn ? ['answer', 'own page'] : refusal(403, 'CROSS_ORIGIN_DENIED'),
      );
    },
  );

  tried('that nothing protects name protect() if ws hides the token of the handshake [P58]', async () => {
    const isWs = library[0] === 'ws';
    bed.service.signInAs({}, 'good');
    const log = new CapturedLog();
    await bed.start({}, log);
    for (const event of ['me', 'me']) {
      const peer = await bed.connect({ headers: { 'x-auth-token': 'good' } });
      peer.send(event);
      await until('it is answered', () => log.having('warn', 'unprotected').length > 0 || bed.plan.ran > 0);
    }

    expect(bed.plan.ran > 0).toBe(!isWs);
    expect(log.having('warn', 'unprotected socket: ')).toEqual(
      isWs ? [expect.stringContaining('Call SessionSockets.protect(server) in afterInit.')] : [],
    );
  });

  it.each([
    ['no token', {}, 401, 'SESSION_REQUIRED'],
    ['a refused token', { token: 'bad' }, 401, 'SESSION_REJECTED'],
    ['a user of another role', { token: 'good' }, 403, 'ACCESS_DENIED'],
  ])('refuse %s with a typed exception, and do not run', async (_case, payload, statusCode, code) => {
    bed.service.signInAs({ role: 'new_hire' }, 'good');
    const peer = await connectToPayloadGateway();

    expect(await peer.ask('secrets', payload)).toEqual(refusal(statusCode, code));
    expect(bed.plan.ran).toBe(0);
    expect(peer.isOpen()).toBe(true);
  });

  it('are guarded with the whole application, unless they are public', async () => {
    await bed.start({ protectAllRoutes: true });
    const peer = await bed.connect();

    expect(await peer.ask('me')).toEqual(refusal(401, 'SESSION_REQUIRED'));
    expect(await peer.ask('open', 'sesame')).toEqual(['answer', 'sesame']);
    expect(await peer.ask('greeting')).toEqual(['answer', 'hello stranger']);
    expect(bed.service.requests).toHaveLength(0);
  });
});

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

  const answersTo = ({ messages }: Attempt): unknown[] =>
    messages
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

  /**
   * Shows that a message is denied, also where Nest sends its client nothing: the next answer is of the next
   * message.
   */
  async function expectDenied(attempt: Attempt, event: string, data: unknown): Promise<void> {
    const before = trial.service.callsTo('user_details');
    attempt.send(event, data);
    await until('the check', () => trial.service.callsTo('user_details') > before);
  }

  it('a public message has no user after messages that were let in, denied by a rule, or met an outage [P14]', async () => {
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

  it('an optional message with a refused token has no user, after any other message [P14]', async () => {
    const attempt = await open();
    const token = trial.service.signInAs({});
    expect(await ask(attempt, 'optional', { token })).toEqual({ optional: 'ann', token });
    trial.service.revoke(token);

    expect(await ask(attempt, 'optional', { token })).toEqual({ optional: 'no user', token: 'no token' });
  });

  it('a message keeps its own user while others with the same token are refused, and while others come with another [P14]', async () => {
    const attempt = await open();
    let release = (): void => undefined;
    HoldingInterceptor.held = new Promise((resolve) => (release = resolve));
    const tokens = Array.from({ length: 20 }, (_, index) =>
      trial.service.signInAs({ username: `user-${index}` }),
    );
    for (const token of tokens) attempt.send('held', { token });
    await until('the checks', () => trial.service.callsTo('user_details') === tokens.length + 1);
    for (const token of tokens) trial.service.revoke(token);
    for (const token of tokens) {
      attempt.send('me', { token });
      attempt.send('public', { token });
    }
    await until('the next checks', () => trial.service.callsTo('user_details') === 2 * tokens.length + 1);
    release();
    const held = (): unknown[] =>
      answersTo(attempt).filter((answer) => JSON.stringify(answer).includes('held'));
    await until('the answers', () => held().length === tokens.length);

    expect(held()).toEqual(
      expect.arrayContaining(tokens.map((token, index) => ({ held: `user-${index}`, token }))),
    );
    const open_ = answersTo(attempt).filter((answer) => JSON.stringify(answer).includes('public'));
    expect(open_).toEqual(tokens.map(() => NO_USER));
  });

  it('no map and no set holds the raw token of a socket or of a message [P15]', async () => {
    const [ofSocket, ofMessage] = ['raw-token-of-the-socket', 'raw-token-of-a-message'];
    const found: unknown[] = [];
    const look = (...values: unknown[]): void =>
      void found.push(...values.filter((value) => value === ofSocket || value === ofMessage));
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

/** Reports the arguments of every call of a method. @returns a function that stops it */
function watchCalls(
  [target, method]: readonly [object, string],
  look: (...values: unknown[]) => void,
): (() => void)[] {
  const original = Reflect.get(target, method) as (...values: unknown[]) => unknown;
  Reflect.set(target, method, function (this: unknown, ...values: unknown[]) {
    look(...values);
    return original.apply(this, values);
  });
  return [() => void Reflect.set(target, method, original)];
}

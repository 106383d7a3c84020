import { describe, expect, it as tried } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { canariesIn, TOKEN } from '../support/trial/canaries.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { reply } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { gatewayBed } from './gateway-bed.js';
import { SOCKET_LIBRARIES, type Message, type Peer } from './peers.js';

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

  it('give the user and the token of the handshake to each message, whatever its payload', async () => {
    bed.plan.watch = {};
    bed.service.signInAs({}, 'good');
    await bed.start();
    const peer = await bed.connect({ headers: { 'x-auth-token': 'good' } });

    for (const payload of [{ some: 'payload' }, undefined, 5, 'text', ['a', 'b']]) {
      expect(await peer.ask('me', payload)).toEqual(['answer', { me: 'ann', token: 'good' }]);
    }
  });

  it.each([
    ['no token', {}, 401, 'SESSION_REQUIRED'],
    ['a refused token', { token: 'bad' }, 401, 'SESSION_REJECTED'],
    ['a token that is none', { token: { $ne: 1 } }, 401, 'SESSION_REJECTED'],
    ['two tokens', { token: ['good', 'good'] }, 401, 'SESSION_REJECTED'],
    ['a user of another role', { token: 'good' }, 403, 'ACCESS_DENIED'],
  ])('refuse %s with a typed exception, and do not run', async (_case, payload, statusCode, code) => {
    bed.service.signInAs({ role: 'new_hire' }, 'good');
    const peer = await connectToPayloadGateway();

    expect(await peer.ask('secrets', payload)).toEqual(refusal(statusCode, code));
    expect(bed.plan.ran).toBe(0);
    expect(peer.isOpen()).toBe(true);
  });

  it('say that the service is unavailable, and for how long, when it gives no usable answer', async () => {
    const peer = await connectToPayloadGateway();
    const [event, data] = await peer.ask('me', { token: bed.service.signInAs({ username: 5 }) });

    expect([event, data]).toMatchObject(['exception', { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 5 }]);
    expect(bed.plan.ran).toBe(0);
  });

  it('keep the users of one client from the data of another, by the fields of a message', async () => {
    const token = bed.service.signInAs({ ccl_info: { client_id: 7 } });
    const peer = await connectToPayloadGateway();

    expect(await peer.ask('client', { token, clientId: 7 })).toEqual(['answer', 'client']);
    for (const clientId of [8, '07', [7], { $ne: 1 }, undefined]) {
      expect(await peer.ask('client', { token, clientId })).toEqual(refusal(403, 'ACCESS_DENIED'));
    }
  });

  it('tell no secret, whatever they refuse', async () => {
    const peer = await connectToPayloadGateway();
    bed.service.signInAs({ role: 'new_hire' }, TOKEN);
    await peer.ask('secrets', { token: TOKEN });
    await peer.ask('me', { token: `${TOKEN}?` });
    await peer.ask('sign-out', { token: `${TOKEN} ` });

    expect(peer.received.map(([event]) => event)).toEqual(Array(3).fill('exception'));
    expect(canariesIn(JSON.stringify(peer.received))).toEqual([]);
  });

  it('check every message: a session that has ended since the last is refused', async () => {
    const peer = await connectToPayloadGateway();
    const token = bed.service.signInAs({});
    expect((await peer.ask('me', { token }))[0]).toBe('answer');
    bed.service.revoke(token);

    expect(await peer.ask('me', { token })).toEqual(refusal(401, 'SESSION_REJECTED'));
    expect(await peer.ask('greeting', { token })).toEqual(['answer', 'hello stranger']);
  });

  it.each([
    ['in a field', (token: string) => ({ token })],
    ['as the whole payload', (token: string) => token],
  ])('keep the users of one socket apart, when a server speaks for many with the token %s', async (_place, payloadFor) => {
    const own = (context: ExecutionContext) => {
      const data: unknown = context.switchToWs().getData();
      return typeof data === 'string' ? data : undefined;
    };
    await bed.start({ token: [fromPayload('token'), own] });
    const peer = await bed.connect();
    const names = Array.from({ length: 60 }, (_, index) => `user-${index % 30}`);
    for (const username of names) peer.send('me', payloadFor(bed.service.signInAs({ username }, username)));
    await until('all answers', () => peer.received.length === names.length);

    const answers = peer.received.map(([, data]) => data as { me: string; token: string });
    expect(answers.map(({ me }) => me).sort()).toEqual([...names].sort());
    expect(answers.every(({ me, token }) => me === token)).toBe(true);
  });

  it('are guarded with the whole application, and open where they say so', async () => {
    await bed.start({ protectAllRoutes: true });
    const peer = await bed.connect();

    expect(await peer.ask('me')).toEqual(refusal(401, 'SESSION_REQUIRED'));
    expect(await peer.ask('open', 'sesame')).toEqual(['answer', 'sesame']);
    expect(await peer.ask('greeting')).toEqual(['answer', 'hello stranger']);
    expect(bed.service.requests).toHaveLength(0);
  });

  it('make one check of a message that two guards see', async () => {
    const options = { protectAllRoutes: true, token: fromPayload('token') };
    await bed.start(options);
    const peer = await bed.connect();

    expect((await peer.ask('me', { token: bed.service.signInAs({}) }))[0]).toBe('answer');
    expect(bed.service.callsTo('user_details')).toBe(1);
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    await bed.start();
    const peer = await bed.connect();
    bed.service.on('sign_out', reply(403));

    expect(await peer.ask('sign-out', { token: 'some-token' })).toEqual(refusal(403, 'ACCESS_DENIED'));
    expect(await peer.ask('sign-out', { token: '' })).toEqual(refusal(401, 'SESSION_REJECTED'));
    expect(await peer.ask('open', 'still here')).toEqual(['answer', 'still here']);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { text } from 'node:stream/consumers';
import { hold, inTurn, json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { checksOf, Sources, StreamsController } from './streams.controller.js';

/** Express has no HTTP/2. */
describe('over HTTP/2, on Fastify, what a session has open', () => {
  const connections: ClientHttp2Session[] = [];
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.destroy();
  });
  const bed = testbed(() => new FastifyAdapter({ http2: true }));

  /** Streams of one connection. */
  async function start(more: Partial<SessionAuthOptions> = {}) {
    const service = await bed.service();
    const { app, url } = await bed.sample({
      baseUrl: service.url,
      options: { retry: false, breaker: false, ...more },
      controllers: [StreamsController],
      providers: [Sources],
    });
    const connection = connect(url);
    connections.push(connection);
    const read = async (path: string, token: string) => {
      const stream = connection.request({ ':path': `/${path}`, 'x-auth-token': token });
      let text = '';
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
      stream.on('error', () => undefined);
      const over = new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
      const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }];
      expect(headers[':status']).toBe(200);
      await until('two parts have arrived', () => text.split('part').length > 2);
      return { text: () => text, over };
    };
    const [sessions, sources] = [app.get(SessionAuthService), app.get(Sources)];
    return { service, sessions, sources, connection, read };
  }

  it.each(['sse', 'own-events'])('ends with it, with a last event: %s [P39]', async (path) => {
    const { service, sessions, read } = await start();
    const token = service.signInAs({});
    const stream = await read(path, token);
    await sessions.signOut(token);

    expect(await stream.over).toBe(constants.NGHTTP2_NO_ERROR);
    expect(stream.text()).toMatch(/event: session-ended\ndata: .*SESSION_REJECTED.*\n\n$/);
  });

  it.each(['file', 'own'])(
    'ends with it, and is not complete: %s; another stream of the connection goes on [P39]',
    async (path) => {
      const { service, sessions, connection, read } = await start();
      const [mine, others] = [
        await read(path, service.signInAs({ username: 'ann' })),
        await read(path, service.signInAs({ username: 'bob' })),
      ];
      await sessions.forgetUser('ann');

      expect(await mine.over).toBe(constants.NGHTTP2_CANCEL);
      const soFar = others.text().length;
      await until('more of the other arrives', () => others.text().length > soFar);
      expect(connection.closed).toBe(false);
    },
  );

  it.each(['sse', 'own-events', 'own'])(
    'is denied if it ends before the head is sent, and the connection goes on: %s [P75]',
    async (path) => {
      const { service, sessions, connection } = await start();
      const answer = async (method: string, token: string) => {
        const stream = connection.request({ ':method': method, ':path': `/${path}`, 'x-auth-token': token });
        const body = text(stream);
        const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }];
        return { status: headers[':status'], body: await body, code: stream.rstCode };
      };
      const endDuringCheck = async (method: string) => {
        const token = service.signInAs({});
        const held = hold(json({ username: 'ann' }));
        service.on('user_details', inTurn(held.script, reply(401)));
        const denied = answer(method, token);
        await held.arrived;
        await sessions.signOut(token);
        held.release();
        return { denied: await denied, token };
      };
      const { denied, token } = await endDuringCheck('GET');
      expect(denied).toMatchObject({ status: 401, code: constants.NGHTTP2_NO_ERROR });
      expect(JSON.parse(denied.body)).toMatchObject({ code: 'SESSION_REJECTED' });
      expect(await answer('GET', token)).toEqual(denied);
      if (path === 'own-events')
        expect((await endDuringCheck('HEAD')).denied).toEqual({ ...denied, body: '' });
    },
  );

  it('is destroyed, although its client reads nothing [P51]', async () => {
    const { service, sessions, sources, connection } = await start();
    const token = service.signInAs({});
    const stream = connection.request({ ':path': '/unread/event-stream', 'x-auth-token': token });
    stream.on('error', () => undefined);
    await once(stream, 'response');
    await sessions.signOut(token);
    await until('it is destroyed', () => sources.running === 0);

    expect(connection.destroyed).toBe(false);
  });

  it('does not concern a reply that is written as a whole', async () => {
    const { service, sessions, sources, connection } = await start();
    const token = service.signInAs({});
    const stream = connection.request({ ':path': '/late-text', 'x-auth-token': token });
    const body = text(stream);
    await until('the late handler runs', () => sources.waiting.length === 1);
    await sessions.signOut(token);
    sources.begin();

    expect(await body).toBe('a text');
  });

  it('is not checked again if its client has gone before the first part', async () => {
    const { service, sources, connection, read } = await start({
      cache: false,
      whileOpen: { recheckMs: 20 },
    });
    const [token, other] = [service.signInAs({}), service.signInAs({})];
    const stream = connection.request({ ':path': '/late-events', 'x-auth-token': token });
    stream.on('error', () => undefined);
    await until('the late handler runs', () => sources.waiting.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await read('sse', other);
    sources.begin();
    const before = checksOf(service, other);
    await until('another session is checked again', () => checksOf(service, other) > before + 10);

    expect(checksOf(service, token)).toBe(1);
  });
});

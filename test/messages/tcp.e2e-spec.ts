import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AddressInfo, Server } from 'node:net';
import type { INestMicroservice } from '@nestjs/common';
import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { canariesIn, everythingOf, TOKEN } from '../support/trial/canaries.js';
import { describeWithRedis, RedisServer } from '../support/redis.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { OpeningsMessages, Runs, startMicroservice } from './openings.microservice.js';

interface Running {
  readonly app: INestMicroservice;
  readonly client: ClientProxy;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

async function overTcp(baseUrl: string, runs: Runs): Promise<Running> {
  const options = { host: HOST, port: 0 };
  const app = await startMicroservice(sample(baseUrl), OpeningsMessages, runs, { transport: Transport.TCP, options });
  const { port } = app.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: HOST, port } });
  return { app, client, close: () => Promise.resolve() };
}

async function overRedis(baseUrl: string, runs: Runs): Promise<Running> {
  const server = await RedisServer.start();
  const options = { host: HOST, port: server.port };
  const app = await startMicroservice(sample(baseUrl), OpeningsMessages, runs, { transport: Transport.REDIS, options });
  return { app, client: ClientProxyFactory.create({ transport: Transport.REDIS, options }), close: () => server.close() };
}

const sample = (baseUrl: string) => ({ baseUrl, options: { token: [fromHeader('x-auth-token'), fromPayload('token')] } });

describe('message handlers over TCP', () => theyAreGuarded(overTcp));
describeWithRedis('message handlers over Redis', () => theyAreGuarded(overRedis));

function theyAreGuarded(start: typeof overTcp): void {
  let service: ScriptedService;
  let runs: Runs;
  let running: Running;

  beforeEach(async () => {
    service = await startScriptedService();
    runs = new Runs();
    running = await start(service.url, runs);
    await running.client.connect();
  });
  afterEach(async () => {
    await running.client.close();
    await running.app.close();
    await running.close();
    await service.close();
  });

  const ask = (pattern: string, payload: unknown): Promise<unknown> => firstValueFrom(running.client.send<unknown>(pattern, payload));

  it('get the user and the token of a message', async () => {
    expect(await ask('me', { token: service.signInAs({}, 'good') })).toEqual({ text: 'ann good' });
  });

  it.each([
    ['no token', {}, 401, 'SESSION_REQUIRED'],
    ['no payload at all', '', 401, 'SESSION_REQUIRED'],
    ['a refused token', { token: 'bad' }, 401, 'SESSION_REJECTED'],
    ['two tokens', { token: ['good', 'good'] }, 401, 'SESSION_REJECTED'],
    ['a token in the prototype', JSON.parse('{ "__proto__": { "token": "good" } }'), 401, 'SESSION_REQUIRED'],
    ['a user of another role', { token: 'good' }, 403, 'ACCESS_DENIED'],
  ])('refuse %s with a typed exception, and do not run', async (_case, payload, statusCode, code) => {
    service.signInAs({ role: 'new_hire' }, 'good');

    await expect(ask('secrets', payload)).rejects.toEqual({ status: 'error', statusCode, code, message: expect.any(String) });
    expect(runs.count).toBe(0);
  });

  it('keep the users of one client from the data of another, by the fields of a message', async () => {
    const token = service.signInAs({ ccl_info: { client_id: 7 } });

    expect(await ask('client', { token, clientId: 7 })).toEqual({ text: 'client' });
    await expect(ask('client', { token, clientId: 8 })).rejects.toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
  });

  it('say that the service is unavailable, and for how long, when it gives no usable answer', async () => {
    const refusal = { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };
    await expect(ask('me', { token: service.signInAs({ username: 5 }) })).rejects.toMatchObject(refusal);
    expect(runs.count).toBe(0);
  });

  it('tell no secret, whatever they refuse', async () => {
    service.signInAs({ role: 'new_hire' }, TOKEN);
    for (const [pattern, token] of [
      ['secrets', TOKEN],
      ['me', `${TOKEN}?`],
      ['sign-out', `${TOKEN} `],
    ] as const) {
      const error: unknown = await ask(pattern, { token }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 'error' });
      expect(canariesIn(everythingOf(error))).toEqual([]);
    }
  });

  it('run for an event with a session, and for no other', async () => {
    service.signInAs({}, 'good');
    for (const event of [{ times: 1 }, { times: 10, token: 'bad' }, { times: 100, token: 'good' }]) {
      await firstValueFrom(running.client.emit('happened', event), { defaultValue: undefined });
    }
    await until('the last event', () => runs.count >= 100);
    expect(await ask('greeting', {})).toEqual({ text: 'hello stranger' });
    expect(runs.count).toBe(100);
  });

  it('keep the users of one connection apart', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const answers = names.map((username) => ask('me', { token: service.signInAs({ username }, username) }));

    expect(await Promise.all(answers)).toEqual(names.map((name) => ({ text: `${name} ${name}` })));
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    service.on('sign_out', reply(403));

    await expect(ask('sign-out', { token: 'some-token' })).rejects.toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
    await expect(ask('sign-out', { token: '' })).rejects.toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
  });
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestMicroservice } from '@nestjs/common';
import {
  ClientProxyFactory,
  Transport,
  MessagePattern,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { fromHeader, fromPayload, CurrentUser } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { describeWithRedis, RedisServer } from '../support/redis.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { OpeningsMessages, Runs, startMicroservice, TCP, tcpClientOf } from './openings.microservice.js';
import { grpcBed, metadata } from './grpc-bed.js';

interface Running {
  readonly app: INestMicroservice;
  readonly client: ClientProxy;
  close(): Promise<void>;
}

async function overTcp(baseUrl: string, runs: Runs): Promise<Running> {
  const app = await startMicroservice(sample(baseUrl), OpeningsMessages, runs, TCP);
  return { app, client: tcpClientOf(app), close: () => Promise.resolve() };
}

async function overRedis(baseUrl: string, runs: Runs): Promise<Running> {
  const server = await RedisServer.start();
  const options = { host: '127.0.0.1', port: server.port };
  const app = await startMicroservice(sample(baseUrl), OpeningsMessages, runs, {
    transport: Transport.REDIS,
    options,
  });
  return {
    app,
    client: ClientProxyFactory.create({ transport: Transport.REDIS, options }),
    close: () => server.close(),
  };
}

const sample = (baseUrl: string) => ({
  baseUrl,
  options: { token: [fromHeader('x-auth-token'), fromPayload('token')] },
});

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

  const ask = (pattern: string, payload: unknown): Promise<unknown> =>
    firstValueFrom(running.client.send<unknown>(pattern, payload));

  it('get the user and the token of a message', async () => {
    expect(await ask('me', { token: service.signInAs({}, 'good') })).toEqual({ text: 'ann good' });
  });

  it.each([
    ['no token', {}, 'SESSION_REQUIRED'],
    ['no payload at all', '', 'SESSION_REQUIRED'],
    ['a refused token', { token: 'bad' }, 'SESSION_REJECTED'],
    ['two tokens', { token: ['good', 'good'] }, 'SESSION_REJECTED'],
    ['a token in the prototype', JSON.parse('{ "__proto__": { "token": "good" } }'), 'SESSION_REQUIRED'],
    ['a user of another role', { token: 'good' }, 'ACCESS_DENIED'],
  ])('refuse %s with a typed exception, and do not run', async (_case, payload, code) => {
    service.signInAs({ role: 'new_hire' }, 'good');

    await expect(ask('secrets', payload)).rejects.toEqual({
      status: 'error',
      code,
      message: expect.any(String),
    });
    expect(runs.count).toBe(0);
  });

  it('run only for an event with a session', async () => {
    service.signInAs({}, 'good');
    for (const event of [{ times: 1 }, { times: 10, token: 'bad' }, { times: 100, token: 'good' }]) {
      await firstValueFrom(running.client.emit('happened', event), { defaultValue: undefined });
    }
    await until('the last event', () => runs.count >= 100);
    expect(await ask('greeting', {})).toEqual({ text: 'hello stranger' });
    expect(runs.count).toBe(100);
  });
}

describe('message handlers over gRPC', () => {
  const bed = grpcBed();
  const { ask } = bed;

  beforeEach(() => bed.start());

  it.each([
    ['no token', [], 16, 'SESSION_REQUIRED'],
    ['a refused token', ['bad'], 16, 'SESSION_REJECTED'],
    ['two tokens', ['good', 'good'], 16, 'SESSION_REJECTED'],
    ['a user of another role', ['good'], 7, 'ACCESS_DENIED'],
    ['everyone when the service gives no usable answer', ['unusable'], 14, 'SESSION_SERVICE_UNAVAILABLE'],
  ])('refuse %s with the status of gRPC, and do not run', async (_case, tokens, code, details) => {
    bed.service.signInAs({ role: 'new_hire' }, 'good');
    bed.service.signInAs({ username: 5 } as object, 'unusable');

    await expect(ask('Secrets', {}, metadata(...tokens))).rejects.toMatchObject({
      code,
      details: expect.stringContaining(`${details}: `),
    });
    expect(bed.runs.count).toBe(0);
  });

  it('let a stranger in if they are public', async () => {
    expect(await ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
    expect(await ask('Greeting', {}, metadata('bad'))).toEqual({ text: 'hello stranger' });
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    bed.service.on('sign_out', reply(403));

    await expect(ask('SignOut', { token: 'some-token' }, metadata())).rejects.toMatchObject({
      code: 7,
      details: expect.stringContaining('ACCESS_DENIED'),
    });
    await expect(ask('SignOut', { token: '' }, metadata())).rejects.toMatchObject({ code: 16 });
  });
});

@Controller()
class HybridController {
  @Get('me')
  @MessagePattern('me')
  me(@CurrentUser('username') username: string | undefined): { name: string | undefined } {
    return { name: username };
  }
}

describe.each(platforms('Express'))(
  'a hybrid application on %s that is protected as a whole',
  (_name, platform) => {
    const bed = testbed(platform);
    let client: ClientProxy | undefined;
    afterEach(async () => {
      await client?.close();
    });

    it('guards its routes and its message handlers with one guard', async () => {
      const service = await bed.service();
      const options = { protectAllRoutes: true, token: [fromHeader('x-auth-token'), fromPayload('token')] };
      const app = await bed.sample({ baseUrl: service.url, options, controllers: [HybridController] });
      const messages = app.app.connectMicroservice<MicroserviceOptions>(TCP, { inheritAppConfig: true });
      await app.app.startAllMicroservices();
      client = tcpClientOf(messages);
      const token = service.signInAs({});

      expect((await app.get('/me')).status).toBe(401);
      expect(await (await app.get('/me', token)).json()).toEqual({ name: 'ann' });
      await expect(firstValueFrom(client.send('me', {}))).rejects.toMatchObject({
        code: 'SESSION_REQUIRED',
      });
      expect(await firstValueFrom(client.send<unknown>('me', { token }))).toEqual({ name: 'ann' });
    });
  },
);

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestMicroservice } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { OpeningsMessages, Runs, startMicroservice, TCP, tcpClientOf } from './openings.microservice.js';
import { grpcBed, metadata } from './grpc-bed.js';

describe('message handlers over TCP', () => {
  let service: ScriptedService;
  let runs: Runs;
  let app: INestMicroservice;
  let client: ClientProxy;

  beforeEach(async () => {
    service = await startScriptedService();
    runs = new Runs();
    const options = { token: [fromHeader('x-auth-token'), fromPayload('token')] };
    app = await startMicroservice({ baseUrl: service.url, options }, OpeningsMessages, runs, TCP);
    client = tcpClientOf(app);
  });
  afterEach(async () => {
    client.close();
    await app.close();
    await service.close();
  });

  it.each([
    ['no token', {}, 'SESSION_REQUIRED'],
    ['no payload at all', '', 'SESSION_REQUIRED'],
    ['a refused token', { token: 'bad' }, 'SESSION_REJECTED'],
    ['a token in the prototype', JSON.parse('{ "__proto__": { "token": "good" } }'), 'SESSION_REQUIRED'],
    ['a user of another role', { token: 'good' }, 'ACCESS_DENIED'],
  ])('refuse %s with a typed exception, and do not run', async (_case, payload: unknown, code) => {
    service.signInAs({ role: 'new_hire' }, 'good');
    const denial = { status: 'error', code, message: expect.any(String) as unknown };
    await expect(firstValueFrom(client.send('secrets', payload))).rejects.toEqual(denial);
    expect(runs.count).toBe(0);
  });

  it('answer an error of the service class that they do not catch with its code', async () => {
    service.on('sign_out', reply(403));
    const answer = firstValueFrom(client.send('sign-out', {}));
    await expect(answer).rejects.toMatchObject({ status: 'error', code: 'ACCESS_DENIED' });
  });

  it('run only for an event with a session', async () => {
    service.signInAs({}, 'good');
    for (const event of [{ times: 1 }, { times: 10, token: 'bad' }, { times: 100, token: 'good' }])
      await firstValueFrom(client.emit('happened', event), { defaultValue: undefined });
    await until('the last event', () => runs.count >= 100);
    expect(await firstValueFrom(client.send('greeting', {}))).toEqual({ text: 'hello stranger' });
    expect(runs.count).toBe(100);
  });
});

describe('message handlers over gRPC', () => {
  const bed = grpcBed();
  const { ask } = bed;

  beforeEach(() => bed.start());

  it.each([
    ['a refused token', ['bad'], 16, 'SESSION_REJECTED'],
    ['two tokens', ['good', 'good'], 16, 'SESSION_REJECTED'],
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
});

import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import type { AddressInfo, Server } from 'node:net';
import type { INestMicroservice } from '@nestjs/common';
import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { OpeningsMessages, Runs, startMicroservice } from './openings.microservice.js';
import { CapturedLog } from '../support/captured-log.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { plainRow } from '../support/trial/row.js';

const HOST = '127.0.0.1';
const MAP = { getMap: 1, get: 1 };

/** What JSON can say that looks like something of the server's own. */
const PAYLOADS: readonly unknown[] = [
  { metadata: { getMap: 1 } },
  { metadata: MAP },
  { metadata: { getMap: { call: 1 }, get: { apply: 1 } }, emit: 1 },
  { metadata: MAP, emit: {}, pause: 1, resume: 1, cancelled: true, readableEnded: true },
  { lift: 1, subscribe: 1, source: {}, drainBuffer: 1 },
  { headers: { 'x-auth-token': 'good' } },
  { headers: { upgrade: 5 }, httpVersion: '1.1', raw: { headers: {} } },
  { getHeaders: 1, getMessage: {}, getPacket: [], getArgByIndex: 1 },
  { properties: { headers: { 'x-auth-token': 'good' }, userProperties: { 'x-auth-token': 'good' } } },
  JSON.parse('{ "__proto__": { "token": "good", "metadata": { "getMap": 1 } }, "constructor": { "prototype": { "token": "good" } } }'),
  { handshake: { auth: { token: 'good' } }, handshakeToken: 'good', user: { role: 'hiring_manager' } },
  { toString: 1, valueOf: 1, toJSON: 1, then: 1 },
  { token: { toString: 'good' } },
  { token: ['good'] },
  { token: 'g'.repeat(100_000) },
  { token: true },
  Array.from({ length: 1_000 }, () => 'good'),
  [MAP, MAP],
  'good',
  0,
  true,
];

describe('messages over TCP', () => {
  let service: ScriptedService;
  let app: INestMicroservice;
  let client: ClientProxy;
  let runs: Runs;
  let log: CapturedLog;

  beforeEach(async () => {
    service = await startScriptedService();
    runs = new Runs();
    log = new CapturedLog();
    const sample = { baseUrl: service.url, options: { token: [fromHeader('x-auth-token'), fromPayload('token')] } };
    const tcp = { transport: Transport.TCP as const, options: { host: HOST, port: 0 } };
    app = await startMicroservice(sample, OpeningsMessages, runs, tcp, log);
    const { port } = app.unwrap<Server>().address() as AddressInfo;
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: HOST, port } });
    service.signInAs({}, 'good');
  });
  afterEach(async () => {
    client.close();
    await app.close();
    await service.close();
  });

  const ask = (payload: unknown): Promise<unknown> => firstValueFrom(client.send<unknown>('me', payload));

  plainRow(
    'a payload that imitates what the server makes itself is refused without a stack in the log, and runs nothing [P17]',
    async () => {
      log.lines.length = 0;
      for (const payload of PAYLOADS) {
        const refused = await ask(payload).catch((error: unknown) => error);
        expect([payload, refused]).toEqual([payload, expect.objectContaining({ status: 'error', statusCode: 401 })]);
      }

      expect(log.lines).toEqual([]);
      expect(runs.count).toBe(0);
      expect(service.requests).toEqual([]);
    },
  );

  plainRow('such a payload with a good token is one like any other [P17]', async () => {
    for (const payload of [{ metadata: MAP }, { metadata: MAP, emit: 1, pause: 1 }, { lift: 1, subscribe: 1 }]) {
      expect(await ask({ ...payload, token: 'good' })).toEqual({ text: 'ann good' });
    }
  });
});

import { describe, expect, it, afterEach, beforeEach } from '@jest/globals';
import type { Metadata } from '@grpc/grpc-js';
import type { INestMicroservice } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { hold, json, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { CapturedLog } from '../support/captured-log.js';
import { grpcBed, metadata, speak, textsOf, type Call, type GrpcBed } from './grpc-bed.js';
import { OpeningsMessages, Runs, startMicroservice, TCP, tcpClientOf } from './openings.microservice.js';

const QUESTIONS = 50;
const ABOUT = Array.from({ length: QUESTIONS }, (_, index) => `ann ${index + 1}`);

type Ask = (bed: GrpcBed, presented: Metadata) => Promise<unknown>;

/** Each kind of call, whose client ends at once, with the answer to a valid token. */
const KINDS: readonly (readonly [ask: Ask, answer: unknown])[] = [
  [({ ask }, presented) => ask('Me', {}, presented), { text: 'ann good' }],
  [({ client }, presented) => textsOf(client.Ticks({}, presented)), ['ann 1', 'ann 2']],
  [({ client }, presented) => textsOf(speak(client.Chat(presented), QUESTIONS)), ABOUT],
  [({ client }, presented) => textsOf(speak(client.Converse(presented), 1)), ['first 1']],
  [
    ({ gather }, presented) => gather('Sum', presented, QUESTIONS),
    { text: `ann ${(QUESTIONS * (QUESTIONS + 1)) / 2}` },
  ],
  [({ client }, presented) => textsOf(speak(client.Through(presented), QUESTIONS)), ['through']],
  [({ gather }, presented) => gather('Gather', presented, QUESTIONS), { text: 'gathered' }],
];

const ignore = () => undefined;

/** A call of each kind that Nest answers. */
const ABANDONED: readonly ((bed: GrpcBed, presented: Metadata) => { cancel(): void })[] = [
  ({ client }, presented) => client.Me({}, presented, ignore),
  ({ client }, presented) => reading(client.Ticks({}, presented)),
  ({ client }, presented) => reading(speak(client.Chat(presented), QUESTIONS)),
  ({ client }, presented) => reading(client.Chat(presented)),
  ({ client }, presented) => speak(client.Sum(presented, ignore), QUESTIONS),
];

function reading(call: Call): Call {
  textsOf(call).catch(ignore);
  return call;
}

describe.each([
  ['off', false as const],
  ['on', { ttlMs: 60_000, negativeTtlMs: 60_000 }],
])('streams over gRPC with the cache %s', (_state, cache) => {
  const bed = grpcBed();

  it('a call whose client ends at once is refused with a junk token, of every kind, and the process lives [P07]', async () => {
    await bed.start({ cache });
    for (const [ask] of [...KINDS, ...KINDS])
      await expect(ask(bed, metadata('junk'))).rejects.toMatchObject({ code: 16 });

    expect(bed.runs.count).toBe(0);
    expect(await bed.ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
  });

  it('a call whose client ends at once is served with a valid token, of every kind, and no message is lost [P07]', async () => {
    bed.service.signInAs({}, 'good');
    await bed.start({ cache });
    for (const [ask, answer] of [...KINDS, ...KINDS])
      expect(await ask(bed, metadata('good'))).toEqual(answer);
    const presented = metadata('good');
    presented.set('x-auth-iv', 'iv-1');
    expect(await bed.ask('Me', {}, presented)).toEqual({ text: 'ann good iv-1' });
  });

  it('a call that its client cancels during the check runs no handler, and the process lives [P07]', async () => {
    const held = hold(json({ username: 'ann' }));
    bed.service.on('user_details', held.script);
    await bed.start({ cache });
    const calls = ABANDONED.map((call) => call(bed, metadata('good')));
    await held.arrived;
    // Messages of a client arrive in order: first the calls, then their ends.
    await bed.ask('Greeting', {}, metadata());
    for (const call of calls) call.cancel();
    await bed.ask('Greeting', {}, metadata());
    held.release();

    expect(await bed.ask('Me', {}, metadata('good'))).toEqual({ text: 'ann good' });
    expect(bed.runs.count).toBe(1);
  });
});

const MAP = { getMap: 1, get: 1 };

/** JSON payloads that imitate internal objects of the server. */
const PAYLOADS: readonly unknown[] = [
  { metadata: { getMap: { call: 1 }, get: { apply: 1 } }, emit: 1 },
  { metadata: MAP, emit: {}, pause: 1, resume: 1, cancelled: true, readableEnded: true },
  { lift: 1, subscribe: 1, source: {}, drainBuffer: 1 },
  { headers: { 'x-auth-token': 'good' }, raw: { headers: {} } },
  { getHeaders: 1, getMessage: {}, getPacket: [], getArgByIndex: 1, getRawRequest: 1 },
  { properties: { headers: { 'x-auth-token': 'good' }, userProperties: { 'x-auth-token': 'good' } } },
  JSON.parse('{ "__proto__": { "token": "good" }, "constructor": { "prototype": { "token": "good" } } }'),
  { handshakeFields: { token: 'good' }, user: { role: 'hiring_manager' } },
  { toString: 1, valueOf: 1, toJSON: 1, then: 1 },
  { token: { toString: 'good' } },
  { token: 'g'.repeat(100_000) },
  [MAP, MAP],
  'good',
  0,
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
    const sample = {
      baseUrl: service.url,
      options: { token: [fromHeader('x-auth-token'), fromPayload('token')] },
    };
    app = await startMicroservice(sample, OpeningsMessages, runs, TCP, log);
    client = tcpClientOf(app);
    service.signInAs({}, 'good');
  });
  afterEach(async () => {
    client.close();
    await app.close();
    await service.close();
  });

  const ask = (payload: unknown): Promise<unknown> => firstValueFrom(client.send<unknown>('me', payload));

  it('a payload that imitates internal objects of the server is refused without a stack in the log, and runs nothing [P17]', async () => {
    log.lines.length = 0;
    for (const payload of PAYLOADS) {
      const refused = await ask(payload).catch((error: unknown) => error);
      expect([payload, refused]).toEqual([
        payload,
        expect.objectContaining({ status: 'error', code: expect.stringMatching(/^SESSION_/) as unknown }),
      ]);
    }

    expect(log.lines).toEqual([]);
    expect(runs.count).toBe(0);
    expect(service.requests).toEqual([]);
  });

  it('such a payload with a valid token is served [P17]', async () => {
    for (const payload of [
      { metadata: MAP, emit: 1, pause: 1 },
      { lift: 1, subscribe: 1 },
    ])
      expect(await ask({ ...payload, token: 'good' })).toEqual({ text: 'ann good' });
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type Client, type ServiceError } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import type { INestMicroservice } from '@nestjs/common';
import { Transport } from '@nestjs/microservices';
import { canariesIn, everythingOf, TOKEN } from '../faults/canaries.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { OpeningsProcedures, Runs, startMicroservice } from './openings.microservice.js';

const PROTO = join(import.meta.dirname, 'openings.proto');

interface Answer {
  readonly text: string;
}
type Call = AsyncIterable<Answer> & { write(question: object): void; end(): void };
interface OpeningsClient extends Client {
  Ticks(question: object, metadata: Metadata): Call;
  Chat(metadata: Metadata): Call;
  Through(metadata: Metadata): Call;
  Gather(metadata: Metadata, answered: Answered): Call;
}
type Answered = (error: ServiceError | null, answer?: Answer) => void;
type Unary = (question: object, metadata: Metadata, answered: Answered) => void;

describe('message handlers over gRPC', () => {
  let folder: string;
  let service: ScriptedService;
  let app: INestMicroservice;
  let client: OpeningsClient;
  let runs: Runs;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grpc-'));
    const url = `unix:${join(folder, 'socket')}`;
    service = await startScriptedService();
    runs = new Runs();
    const options = { package: 'openings', protoPath: PROTO, url };
    app = await startMicroservice({ baseUrl: service.url }, OpeningsProcedures, runs, { transport: Transport.GRPC, options });
    const { openings } = loadPackageDefinition(await load(PROTO)) as unknown as Record<
      'openings',
      { Openings: new (...parameters: unknown[]) => OpeningsClient }
    >;
    client = new openings.Openings(url, credentials.createInsecure());
  });
  afterEach(async () => {
    client.close();
    await app.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  function metadata(...tokens: string[]): Metadata {
    const presented = new Metadata();
    for (const token of tokens) presented.add('X-AUTH-TOKEN', token);
    return presented;
  }

  function ask(method: 'Me' | 'Secrets' | 'Greeting' | 'SignOut', question: object, presented: Metadata): Promise<Answer> {
    return new Promise((resolve, reject) => {
      (client as unknown as Record<string, Unary>)[method]?.call(client, question, presented, (error, answer) =>
        error ? reject(error) : resolve(answer ?? { text: '' }),
      );
    });
  }

  async function textsOf(call: Call): Promise<string[]> {
    const texts: string[] = [];
    for await (const { text } of call) texts.push(text);
    return texts;
  }

  it('get the user and the token from the metadata', async () => {
    expect(await ask('Me', {}, metadata(service.signInAs({}, 'good')))).toEqual({ text: 'ann good' });
  });

  it.each([
    ['no token', [], 16, 'SESSION_REQUIRED'],
    ['a refused token', ['bad'], 16, 'SESSION_REJECTED'],
    ['two tokens', ['good', 'good'], 16, 'SESSION_REJECTED'],
    ['a user of another role', ['good'], 7, 'ACCESS_DENIED'],
    ['everybody when the service gives no usable answer', ['unusable'], 14, 'SESSION_SERVICE_UNAVAILABLE'],
  ])('refuse %s with the status of gRPC, and do not run', async (_case, tokens, code, details) => {
    service.signInAs({ role: 'new_hire' }, 'good');
    service.signInAs({ username: 5 }, 'unusable');

    await expect(ask('Secrets', {}, metadata(...tokens))).rejects.toMatchObject({ code, details: expect.stringContaining(`${details}: `) });
    expect(runs.count).toBe(0);
  });

  it('tell no secret, whatever they refuse', async () => {
    service.signInAs({ role: 'new_hire' }, TOKEN);
    for (const [method, token] of [
      ['Secrets', TOKEN],
      ['Me', `${TOKEN}?`],
    ] as const) {
      const error: unknown = await ask(method, {}, metadata(token)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(canariesIn(everythingOf(error))).toEqual([]);
    }
  });

  it('let a stranger in where they are open', async () => {
    expect(await ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
    expect(await ask('Greeting', {}, metadata('bad'))).toEqual({ text: 'hello stranger' });
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    service.on('sign_out', reply(403));

    await expect(ask('SignOut', { token: 'some-token' }, metadata())).rejects.toMatchObject({
      code: 7,
      details: expect.stringContaining('ACCESS_DENIED'),
    });
    await expect(ask('SignOut', { token: '' }, metadata())).rejects.toMatchObject({ code: 16 });
  });

  it.each([
    ['that answers with many', (presented: Metadata) => client.Ticks({}, presented), ['ann 1', 'ann 2']],
    ['in both directions', (presented: Metadata) => chat(client.Chat(presented)), ['ann one', 'ann two']],
    ['that is handed to the handler', (presented: Metadata) => chat(client.Through(presented)), ['through']],
  ])('are guarded in a call %s', async (_kind, call, texts) => {
    expect(await textsOf(call(metadata(service.signInAs({}, 'good'))))).toEqual(texts);
    runs.count = 0;

    await expect(textsOf(call(metadata('bad')))).rejects.toMatchObject({ code: 16 });
    expect(runs.count).toBe(0);
    expect(await ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
  });

  it('are guarded in a call that is handed to the handler with what it answers with', async () => {
    const gather = (token: string): Promise<Answer> =>
      new Promise((resolve, reject) => {
        client.Gather(metadata(token), (error, answer) => (error ? reject(error) : resolve(answer ?? { text: '' }))).end();
      });

    expect(await gather(service.signInAs({}, 'good'))).toEqual({ text: 'gathered' });
    await expect(gather('bad')).rejects.toMatchObject({ code: 16 });
    expect(runs.count).toBe(1);
  });

  function chat(call: Call): Call {
    for (const about of ['one', 'two']) call.write({ about });
    call.end();
    return call;
  }
});

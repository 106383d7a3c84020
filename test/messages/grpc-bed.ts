import { afterEach, beforeEach } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type Client, type ServiceError } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import type { INestMicroservice, LoggerService, Type } from '@nestjs/common';
import { Transport } from '@nestjs/microservices';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { OpeningsProcedures, Runs, startMicroservice } from './openings.microservice.js';

export const PROTO = join(import.meta.dirname, 'openings.proto');

export interface Answer {
  readonly text: string;
}

/** A call that streams, as its client has it. */
export type Call = AsyncIterable<Answer> & { write(question: object): void; end(): void; cancel(): void };

type Answered = (error: ServiceError | null, answer?: Answer) => void;
type Unary = (question: object, metadata: Metadata, answered: Answered) => { cancel(): void };
type Gathering = (metadata: Metadata, answered: Answered) => Call;

export interface OpeningsClient extends Client {
  Me: Unary;
  Secrets: Unary;
  Ticks: (question: object, metadata: Metadata) => Call;
  Chat: (metadata: Metadata) => Call;
  Converse: (metadata: Metadata) => Call;
  Through: (metadata: Metadata) => Call;
  Gather: Gathering;
  Sum: Gathering;
}

/**
 * A microservice over gRPC with the procedures of {@link OpeningsProcedures}, and its client: new for each
 * test, and closed after it.
 */
export interface GrpcBed {
  readonly service: ScriptedService;
  readonly client: OpeningsClient;
  readonly runs: Runs;
  /** Starts it; the first call of a test. */
  readonly start: (
    options?: Partial<SessionAuthOptions & SessionAuthExtras>,
    setup?: GrpcSetup,
  ) => Promise<void>;
  /** Calls a procedure without a stream. */
  readonly ask: (
    method: 'Me' | 'Secrets' | 'Greeting',
    question: object,
    presented: Metadata,
  ) => Promise<Answer>;
  /** Calls a procedure that streams questions only, with a number of them. */
  readonly gather: (method: 'Gather' | 'Sum', presented: Metadata, questions: number) => Promise<Answer>;
}

interface GrpcSetup {
  readonly controller?: Type;
  readonly logger?: LoggerService;
}

/** Call it inside `describe`. */
export function grpcBed(): GrpcBed {
  let folder = '';
  let service = undefined as never as ScriptedService;
  let client = undefined as never as OpeningsClient;
  let app: INestMicroservice | undefined;
  let runs = new Runs();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grpc-'));
    service = await startScriptedService();
    runs = new Runs();
    client = await openingsClientOf(urlIn(folder));
  });
  afterEach(async () => {
    client.close();
    await app?.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  return {
    get service() {
      return service;
    },
    get client() {
      return client;
    },
    get runs() {
      return runs;
    },
    start: async (options = {}, { controller = OpeningsProcedures, logger } = {}) => {
      const grpc = { package: 'openings', protoPath: PROTO, url: urlIn(folder) };
      const sample = { baseUrl: service.url, options };
      app = await startMicroservice(
        sample,
        controller,
        runs,
        { transport: Transport.GRPC, options: grpc },
        logger,
      );
    },
    ask: (method, question, presented) =>
      answerTo((answered) =>
        (client as unknown as Record<string, Unary>)[method]?.call(client, question, presented, answered),
      ),
    gather: (method, presented, questions) =>
      answerTo((answered) =>
        speak(
          (client as unknown as Record<string, Gathering>)[method]?.call(client, presented, answered),
          questions,
        ),
      ),
  };
}

export function metadata(...tokens: string[]): Metadata {
  const presented = new Metadata();
  for (const token of tokens) presented.add('X-AUTH-TOKEN', token);
  return presented;
}

/** Sends a number of questions, and ends: the server gets the end with the call itself, if it is quick. */
export function speak<Spoken extends Call | undefined>(call: Spoken, questions: number): Spoken {
  for (let about = 1; about <= questions; about += 1) call?.write({ about: String(about) });
  call?.end();
  return call;
}

export async function textsOf(call: Call): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of call) texts.push(text);
  return texts;
}

function urlIn(folder: string): string {
  return `unix:${join(folder, 'socket')}`;
}

export async function openingsClientOf(url: string): Promise<OpeningsClient> {
  const { openings } = loadPackageDefinition(await load(PROTO)) as unknown as Record<
    'openings',
    { Openings: new (...parameters: unknown[]) => OpeningsClient }
  >;
  return new openings.Openings(url, credentials.createInsecure());
}

export function answerTo(call: (answered: Answered) => unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer ?? { text: '' })));
  });
}

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  UseFilters,
  UseGuards,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  EventPattern,
  MessagePattern,
  Payload,
  RpcException,
  Transport,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { CurrentUser, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { Kafka, logLevel, type Consumer, type IHeaders, type Producer } from 'kafkajs';
import { of, type Observable } from 'rxjs';
import { CapturedLog } from '../support/captured-log.js';
import { describeWithKafka, KafkaBroker } from '../support/kafka.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';

/** The arguments of the handlers that ran, and the denials that the filter of the application received. */
const ran: unknown[] = [];
const filtered: unknown[] = [];

@Catch(RpcException)
class OwnFilter implements ExceptionFilter {
  catch(exception: RpcException): Observable<unknown> {
    filtered.push(exception.getError());
    return of(undefined);
  }
}

/** Of an application that answers over HTTP only. */
@Catch()
class CatchAll implements ExceptionFilter {
  catch(exception: unknown): never {
    throw exception;
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class OpeningsEvents {
  @EventPattern('opened')
  opened(@CurrentUser('username') username: string | undefined): void {
    ran.push(username);
  }

  @EventPattern('managed')
  @Roles('hiring_manager')
  managed(@CurrentUser('username') username: string | undefined): void {
    ran.push(username);
  }

  @EventPattern('marker')
  @Public()
  marker(@Payload() text: string): void {
    ran.push(text);
  }

  @EventPattern('filtered')
  @UseFilters(OwnFilter)
  filtered(@CurrentUser('username') username: string | undefined): void {
    ran.push(username);
  }

  @MessagePattern('asked')
  asked(@CurrentUser('username') username: string | undefined): string {
    ran.push('asked');
    return `hello ${username}`;
  }
}

/** Each must be denied: a denial that holds now and then is none. */
const DENIALS = 10;

const TOPICS = ['opened', 'managed', 'marker', 'filtered', 'asked', 'replies'];

/** The broker answers a fetch after this time, with or without messages: 5 s by default. */
const FETCH_MS = 50;

describeWithKafka('events over Kafka', () => {
  let broker: KafkaBroker;
  let service: ScriptedService;
  let app: INestApplication;
  let producer: Producer;
  let replies: Consumer;
  const replied: { headers: Record<string, string>; value: string }[] = [];
  const log = new CapturedLog();

  beforeAll(async () => {
    [broker, service] = await Promise.all([KafkaBroker.start(), startScriptedService()]);
    const kafka = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });
    producer = kafka.producer();
    await producer.connect();
    await Promise.all(
      TOPICS.map((topic) => producer.send({ topic, messages: [{ partition: 3, value: 'created' }] })),
    );
    [app, replies] = await Promise.all([startApp(), readReplies(kafka)]);
    await until('the first messages', () => ran.length > 0 && filtered.length > 0 && replied.length > 0);
  });
  afterAll(async () => {
    await Promise.all([app.close(), producer.disconnect(), replies.disconnect()]);
    await Promise.all([broker.close(), service.close()]);
  });
  beforeEach(() => {
    for (const list of [ran, filtered, replied, log.lines, service.requests as unknown[]]) list.length = 0;
  });

  /** A hybrid application, to whose messages no global filter applies. */
  async function startApp(): Promise<INestApplication> {
    const options = { retry: false as const, breaker: false as const };
    const root = sampleApp({ baseUrl: service.url, options, controllers: [OpeningsEvents] });
    const nest = await NestFactory.create(root, { logger: log, abortOnError: false });
    nest.useGlobalFilters(new CatchAll());
    nest.connectMicroservice<MicroserviceOptions>({
      transport: Transport.KAFKA,
      options: {
        client: { brokers: [broker.address], retry: { initialRetryTime: 20, maxRetryTime: 20 } },
        consumer: { groupId: 'application', maxWaitTimeInMs: FETCH_MS },
        subscribe: { fromBeginning: true },
      },
    });
    await nest.startAllMicroservices();
    return nest;
  }

  async function readReplies(kafka: Kafka): Promise<Consumer> {
    const consumer = kafka.consumer({ groupId: 'replies', maxWaitTimeInMs: FETCH_MS });
    await consumer.connect();
    await consumer.subscribe({ topics: ['replies'], fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message: { headers = {}, value } }) => {
        const texts = Object.entries(headers).map(([name, header]) => [name, String(header)]);
        replied.push({ headers: Object.fromEntries(texts) as Record<string, string>, value: String(value) });
        return Promise.resolve();
      },
    });
    return consumer;
  }

  const send = async (topic: string, ...presented: IHeaders[]): Promise<void> => {
    await producer.send({
      topic,
      messages: presented.map((headers) => ({ partition: 0, value: '{}', headers })),
    });
  };

  it.each([
    ['no token', 'opened', {}],
    ['a refused token', 'opened', { 'x-auth-token': 'bad' }],
    ['two tokens', 'opened', { 'x-auth-token': ['good', 'good'] }],
    ['a user of another role', 'managed', { 'x-auth-token': 'new-hire' }],
    [
      'a refused token and the headers of a request',
      'opened',
      { 'x-auth-token': 'bad', kafka_correlationId: '1', kafka_replyTopic: 'replies' },
    ],
  ])(
    'are dropped with %s, and the next event of their partition is handled',
    async (_case, topic, headers) => {
      service.signInAs({ role: 'new_hire' }, 'new-hire');
      service.signInAs({ role: 'hiring_manager' }, 'good');
      await send(topic, ...Array<IHeaders>(DENIALS).fill(headers), { 'x-auth-token': 'good' });
      await until('the event with a session', () => ran.length > 0);

      expect(ran).toEqual(['ann']);
      expect(log.lines).toEqual([]);
    },
  );

  it('are dropped as well if a handler of requests gets them without an address for the reply', async () => {
    const token = service.signInAs({}, 'good');
    const denied = Array.from({ length: DENIALS }, () => [
      { 'x-auth-token': 'bad' },
      { kafka_correlationId: '1' },
    ]);
    await send('asked', ...denied.flat(), { 'x-auth-token': token });
    await until('the event with a session', () => ran.length > 0);

    expect([ran, log.lines, replied]).toEqual([['asked'], [], []]);
  });

  it('wait during an outage and are handled after it: kafkajs delivers them again', async () => {
    const token = service.signInAs({ username: 5 } as object, 'later');
    await send('opened', { 'x-auth-token': token });
    await until('two checks', () => service.callsTo('user_details') > 1);
    expect(ran).toEqual([]);
    service.signInAs({}, token);
    await until('the event', () => ran.length > 0);

    expect(ran).toEqual(['ann']);
  });

  it('reach a filter of the application before they are dropped', async () => {
    await send('filtered', ...Array<IHeaders>(DENIALS).fill({ 'x-auth-token': 'bad' }));
    await until('the denials', () => filtered.length + ran.length === DENIALS);

    const denial = expect.objectContaining({ status: 'error', code: 'SESSION_REJECTED' });
    expect(filtered).toEqual(Array(DENIALS).fill(denial));
    expect(ran).toEqual([]);
  });

  it('are dropped only if they are not requests, whose denial is the reply', async () => {
    const address = (id: string) => ({
      kafka_correlationId: id,
      kafka_replyTopic: 'replies',
      kafka_replyPartition: '0',
    });
    const token = service.signInAs({}, 'good');
    await send(
      'asked',
      { ...address('1'), 'x-auth-token': 'bad' },
      { ...address('2'), 'x-auth-token': token },
    );
    await until('two replies', () => replied.length === 2);

    const replyTo = (id: string) => replied.find(({ headers }) => headers.kafka_correlationId === id);

    expect(JSON.parse(replyTo('1')?.headers['kafka_nest-err'] ?? '{}')).toMatchObject({
      status: 'error',
      code: 'SESSION_REJECTED',
    });
    expect(replyTo('2')).toMatchObject({ value: 'hello ann' });
  });
});

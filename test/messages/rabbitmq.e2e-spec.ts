import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Controller,
  UseFilters,
  UseGuards,
  type ExceptionFilter,
  type INestMicroservice,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Ctx,
  EventPattern,
  MessagePattern,
  Transport,
  type MicroserviceOptions,
  type RmqContext,
} from '@nestjs/microservices';
import { connect, type Channel, type ChannelModel, type ConsumeMessage } from 'amqplib';
import { CurrentUser, SessionAuthGuard } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { describeWithRabbitMq, RabbitMqServer } from '../support/rabbitmq.js';
import { sampleApp } from '../support/sample-app.js';
import { json, reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';

/** Each of these must be denied: a denial that holds now and then is none. */
const DENIED = Array<string>(10).fill('bad');

/** The users for whom a handler ran. */
const ran: unknown[] = [];

function acknowledge(context: RmqContext): void {
  (context.getChannelRef() as Channel).ack(context.getMessage() as ConsumeMessage);
}

function controllerWith(filter: Type<ExceptionFilter>): Type {
  @Controller()
  @UseGuards(SessionAuthGuard)
  @UseFilters(filter)
  class OpeningsQueue {
    @EventPattern('opened')
    opened(@CurrentUser('username') username: string | undefined, @Ctx() context: unknown): void {
      ran.push(username);
      acknowledge(context as RmqContext);
    }

    @MessagePattern('asked')
    asked(
      @CurrentUser('username') username: string | undefined,
      @Ctx() context: unknown,
    ): string | undefined {
      acknowledge(context as RmqContext);
      return username;
    }
  }
  return OpeningsQueue;
}

describeWithRabbitMq('messages of RabbitMQ with manual acknowledgement and the filter of the guide', () => {
  let broker: RabbitMqServer;
  let guide: GuideCode<{ readonly SettleFilter: Type<ExceptionFilter> }>;
  let connection: ChannelModel;
  let channel: Channel;
  let service: ScriptedService;
  let app: INestMicroservice;
  const log = new CapturedLog();

  beforeAll(async () => {
    [broker, guide] = await Promise.all([
      RabbitMqServer.start(),
      importFromGuide<typeof guide.module>('microservices.md', 'src/settle.filter.ts'),
    ]);
    connection = await connect(broker.url);
  });
  afterAll(async () => {
    await connection.close();
    await Promise.all([broker.close(), guide.remove()]);
  });
  beforeEach(async () => {
    ran.length = log.lines.length = 0;
    [service, channel] = await Promise.all([startScriptedService(), connection.createChannel()]);
    await channel.assertQueue('dead');
    app = await start();
  });
  afterEach(async () => {
    await app.close();
    await Promise.all(['openings', 'dead'].map((queue) => channel.deleteQueue(queue)));
    await Promise.all([channel.close(), service.close()]);
  });

  async function start(): Promise<INestMicroservice> {
    const options = { retry: false as const, breaker: false as const };
    const root = sampleApp({
      baseUrl: service.url,
      options,
      controllers: [controllerWith(guide.module.SettleFilter)],
    });
    const nest = await NestFactory.createMicroservice<MicroserviceOptions>(root, {
      transport: Transport.RMQ,
      options: {
        urls: [broker.url],
        queue: 'openings',
        queueOptions: { durable: false, deadLetterExchange: '', deadLetterRoutingKey: 'dead' },
        noAck: false,
        prefetchCount: 1,
      },
      logger: log,
      abortOnError: false,
    });
    await nest.listen();
    log.lines.length = 0;
    return nest;
  }

  const send = (message: object, token: string, options: object = {}): void => {
    channel.sendToQueue('openings', Buffer.from(JSON.stringify(message)), {
      headers: { 'x-auth-token': token },
      ...options,
    });
  };
  const event = { pattern: 'opened', data: {} };
  const dead = async (): Promise<number> => (await channel.checkQueue('dead')).messageCount;

  it('go to the dead-letter exchange if they are denied, and the next message is handled', async () => {
    service.signInAs({}, 'good');
    for (const token of [...DENIED, 'good']) send(event, token);
    await until('the event with a session', () => ran.length > 0);

    expect([ran, await dead(), log.lines]).toEqual([['ann'], DENIED.length, []]);
  });

  it('wait during an outage, and are handled after it', async () => {
    service.on('user_details', reply(429, '', { 'retry-after': '1' }));
    send(event, 'good');
    await until('the first check', () => service.callsTo('user_details') === 1);
    service.on('user_details', json({ username: 'ann' }));
    await until('the event', () => ran.length > 0);

    const throttled = expect.stringContaining('warn throttled: checks get 503');
    expect([ran, await dead(), log.lines]).toEqual([['ann'], 0, [throttled]]);
  });

  it('are acknowledged if they are requests, whose clients get the denial', async () => {
    const { queue: replyTo } = await channel.assertQueue('', { exclusive: true });
    const replies: unknown[] = [];
    await channel.consume(replyTo, (sent) => void replies.push(JSON.parse(String(sent?.content))), {
      noAck: true,
    });
    service.signInAs({}, 'good');
    for (const token of [...DENIED, 'good'])
      send({ pattern: 'asked', data: {}, id: '1' }, token, { replyTo });
    await until('every reply', () => replies.length === DENIED.length + 1);

    expect(replies).toMatchObject([
      ...DENIED.map(() => ({ err: { status: 'error', code: 'SESSION_REJECTED' } })),
      { response: 'ann' },
    ]);
    expect([await dead(), log.lines]).toEqual([0, []]);
  });
});

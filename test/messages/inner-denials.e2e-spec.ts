import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import {
  ClientProxyFactory,
  EventPattern,
  GrpcMethod,
  MessagePattern,
  Payload,
  Transport,
  type ClientProxy,
} from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import axios from 'axios';
import { Public } from 'nestjs-session-auth';
import { firstValueFrom, type Observable } from 'rxjs';
import { overMessages, overSocket, startEveryKind, type EveryKind } from '../access/every-kind.js';
import { postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { PLATFORMS } from '../support/platforms.js';
import { freePort } from '../support/server-process.js';
import { until } from '../support/until.js';
import { answerTo, metadata, openingsClientOf, PROTO, type OpeningsClient } from './grpc-bed.js';

/** The call of an outer handler, whose error the handler does not catch. */
let callInner: () => unknown;
let runs = 0;

const run = (): string => ((runs += 1), 'in');

@Controller()
class Handlers {
  @Get('outer') http(): unknown {
    return callInner();
  }
  @MessagePattern('outer') message(): unknown {
    return callInner();
  }
  @EventPattern('outer-event') async event(@Payload('times') times: number): Promise<void> {
    runs += times;
    await callInner();
  }
  @GrpcMethod('Openings', 'Me') grpc(): unknown {
    return callInner();
  }

  @Get('inner') innerHttp(): string {
    return run();
  }
  @MessagePattern('inner') innerMessage(): string {
    return run();
  }
  @GrpcMethod('Openings', 'Secrets') innerGrpc(): { text: string } {
    return { text: run() };
  }
  @GrpcMethod('Openings', 'Greeting') @Public() greeting(): { text: string } {
    return { text: 'hello' };
  }
}

@Resolver()
class HandlersResolver {
  @Query(() => String, { nullable: true }) outer(): unknown {
    return callInner();
  }
}

@WebSocketGateway()
class HandlersGateway {
  @SubscribeMessage('outer') message(): unknown {
    return callInner();
  }
}

describe.each(PLATFORMS)('a denial of an inner call without a token on %s [P59]', (_name, platform) => {
  let every: EveryKind;
  let grpc: OpeningsClient;
  let proxy: ClientProxy;
  let token: string;

  beforeAll(async () => {
    every = await startEveryKind(platform, {
      controllers: [Handlers],
      providers: [HandlersResolver, HandlersGateway],
      options: { protectAllRoutes: true, audit: 'off' },
    });
    const url = `127.0.0.1:${await freePort()}`;
    const options = { package: 'openings', protoPath: PROTO, url };
    await every.app.app.connectMicroservice({ transport: Transport.GRPC, options }).listen();
    grpc = await openingsClientOf(url);
    proxy = ClientProxyFactory.create({
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port: every.port },
    });
    token = every.service.signInAs({ username: 'ann' });
  });
  beforeEach(() => void (runs = 0));
  afterAll(async () => {
    await proxy.close();
    grpc.close();
    await every.close();
  });

  const INNER: [kind: string, call: () => unknown][] = [
    ['a message', () => firstValueFrom(proxy.send<unknown>('inner', {}))],
    ['a message, as an Observable', (): Observable<unknown> => proxy.send('inner', {})],
    ['a procedure of gRPC', () => answerTo((answered) => grpc.Secrets({}, metadata(), answered))],
    ['a route', () => axios.get(`${every.app.url}/inner`)],
  ];

  it.each(INNER)('is an error of the outer handler, of every kind: %s', async (_kind, call) => {
    callInner = call;
    const failed = { status: 'error', message: 'Internal server error' };
    const reply = await every.app.get('/outer', token);
    expect([reply.status, reply.headers.get('www-authenticate'), await reply.json()]).toEqual([
      500,
      null,
      { statusCode: 500, message: 'Internal server error' },
    ]);
    expect(await overMessages('outer')(every, token)).toEqual(failed);
    expect(await overSocket('outer')(every, token)).toMatchObject(failed);
    const outerGrpc = answerTo((answered) => grpc.Me({}, metadata(token), answered));
    await expect(outerGrpc).rejects.toMatchObject({ code: 2, details: 'Internal server error' });
    const graphql = await postGraphql(every.app.url, { query: '{ outer }' }, token);
    const { errors } = (await graphql.json()) as GraphqlReply;
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['outer'], 'INTERNAL_SERVER_ERROR'],
    ]);
    expect(errors?.[0]?.extensions).not.toHaveProperty('originalError');
    expect(runs).toBe(0);
  });

  it.each(INNER)('ends no process when an event handler does not catch it: %s', async (_kind, call) => {
    callInner = call;
    await firstValueFrom(proxy.emit('outer-event', { token, times: 1 }), { defaultValue: undefined });
    await until('the event', () => runs > 0);
    expect(await overMessages('outer')(every, token)).toMatchObject({ status: 'error' });
    expect(runs).toBe(1);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway, type WsResponse } from '@nestjs/websockets';
import { fromPayload, OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { currentUserOf, sessionContext, SessionContext } from 'nestjs-session-auth/context';
import { concatMap, defer, from, map, type Observable } from 'rxjs';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { SOCKET_LIBRARIES, type Peer } from '../sockets/peers.js';

const answer = (data: unknown): WsResponse => ({ event: 'answer', data });

class SeeingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map(({ data }: WsResponse) =>
          answer(`${String(data)} ${currentUserOf(context)?.username ?? 'anonymous'}`),
        ),
      );
  }
}

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
@UseInterceptors(SeeingInterceptor)
class NameGateway {
  constructor(private readonly session: SessionContext) {}

  @SubscribeMessage('me')
  async me(): Promise<WsResponse> {
    const before = this.#name();
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return answer(`${before} ${this.#name()}`);
  }

  @SubscribeMessage('many')
  many(): Observable<WsResponse> {
    return defer(() => from([1, 2]).pipe(concatMap(() => defer(() => this.me()))));
  }

  @SubscribeMessage('greeting')
  @OptionalAuth()
  greeting(): WsResponse {
    return answer(this.#name());
  }

  @SubscribeMessage('open')
  @Public()
  open(): WsResponse {
    return answer(this.#name());
  }

  #name(): string {
    return this.session.findUser()?.username ?? 'anonymous';
  }
}

describe.each(SOCKET_LIBRARIES)(
  'the current user in a message of a gateway on %s',
  (_name, adapter, connect) => {
    const bed = testbed();
    const peers: Peer[] = [];
    let service: ScriptedService;
    let url: string;

    beforeEach(async () => {
      service = await bed.service();
      const options = { plugins: [sessionContext], token: fromPayload('token') };
      const sample = { baseUrl: service.url, options, controllers: [], providers: [NameGateway] };
      ({ url } = await bed.sample(sample, {
        configure: (app) => void app.useWebSocketAdapter(adapter(app)),
      }));
    });
    afterEach(async () => {
      for (const peer of peers.splice(0)) await peer.close();
    });

    async function open(): Promise<Peer> {
      const peer = await connect(url, {});
      peers.push(peer);
      return peer;
    }

    it('is available in its handler, in the Observable that it returns, and in interceptors', async () => {
      const peer = await open();
      const token = service.signInAs({}, 'good');
      expect(await peer.ask('me', { token })).toEqual(['answer', 'ann ann ann']);
      peer.send('many', { token });
      await until('two answers', () => peer.received.length === 3);
      expect(peer.received.slice(1)).toEqual([
        ['answer', 'ann ann ann'],
        ['answer', 'ann ann ann'],
      ]);
    });

    it('is absent without a session, and in a public handler', async () => {
      const peer = await open();
      const token = service.signInAs({}, 'good');
      expect(await peer.ask('greeting', { token })).toEqual(['answer', 'ann ann']);
      expect(await peer.ask('greeting', {})).toEqual(['answer', 'anonymous anonymous']);
      expect(await peer.ask('open', { token })).toEqual(['answer', 'anonymous anonymous']);
    });

    it('belongs to each message of one socket', async () => {
      const peer = await open();
      const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
      for (const username of names) peer.send('me', { token: service.signInAs({ username }, username) });
      await until('all answers', () => peer.received.length === names.length);
      expect(new Set(peer.received.map(([, text]) => text))).toEqual(
        new Set(names.map((name) => `${name} ${name} ${name}`)),
      );
    });
  },
);

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Sse,
  StreamableFile,
  UseGuards,
  UseInterceptors,
  type MessageEvent,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Query, Resolver } from '@nestjs/graphql';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Readable } from 'node:stream';
import { ClsModule, ClsService } from 'nestjs-cls';
import { Public, SessionAuthGuard } from 'nestjs-session-auth';
import { interval, map, take, type Observable } from 'rxjs';
import {
  overGraphql,
  overHttp,
  overMessages,
  startEveryKind,
  type Call,
  type EveryKind,
} from '../access/every-kind.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { platforms } from '../support/platforms.js';
import { until } from '../support/until.js';

type Guide = GuideCode<{ readonly UserInterceptor: Type }>;
const guide: Guide = await importFromGuide('user-in-services.md', 'src/user.interceptor.ts');
const { UserInterceptor } = guide.module;
afterAll(() => guide.remove());

/** Reads the user far from any handler. */
@Injectable()
class Profile {
  /** The number of calls that wait for each other. */
  together = 1;
  #waiting: (() => void)[] = [];

  constructor(private readonly call: ClsService) {}

  name(): string {
    return this.call.get<{ readonly username?: string } | undefined>('user')?.username ?? 'none';
  }

  /** At once, when the other calls have arrived, and in a timer. */
  async names(): Promise<string> {
    const first = this.name();
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === this.together) for (const go of this.#waiting.splice(0)) go();
    });
    const second = this.name();
    const third = await new Promise<string>((resolve) => void setTimeout(() => resolve(this.name()), 1));
    return `${first} ${second} ${third}`;
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
@UseInterceptors(UserInterceptor)
class NamesController {
  constructor(private readonly profile: Profile) {}

  @Get('me') @MessagePattern('me') me(): Promise<string> {
    return this.profile.names();
  }

  @Get('open') @MessagePattern('open') @Public() open(): string {
    return this.profile.name();
  }

  @Sse('events') events(): Observable<MessageEvent> {
    return interval(1).pipe(
      take(3),
      map(() => ({ data: this.profile.name() })),
    );
  }

  @Get('file') file(): StreamableFile {
    const { profile } = this;
    let part = 0;
    return new StreamableFile(
      new Readable({
        highWaterMark: 1,
        read() {
          setTimeout(() => this.push((part += 1) > 3 ? null : `data: ${profile.name()}\n`), 1);
        },
      }),
    );
  }
}

@Resolver()
@UseGuards(SessionAuthGuard)
class NamesResolver {
  constructor(private readonly profile: Profile) {}

  @Query(() => String) me(): Promise<string> {
    return this.profile.names();
  }

  @Query(() => String) @Public() open(): string {
    return this.profile.name();
  }
}

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
@UseInterceptors(UserInterceptor)
class NamesGateway {
  constructor(private readonly profile: Profile) {}

  @SubscribeMessage('me') async me(): Promise<unknown> {
    return { event: 'me', data: await this.profile.names() };
  }

  @SubscribeMessage('open') @Public() open(): unknown {
    return { event: 'open', data: this.profile.name() };
  }
}

type CallOf = (handler: string) => Call;

/** A message with a token of its own. */
const overSocket: CallOf =
  (handler) =>
  async ({ app }, token) => {
    const peer = await SOCKET_IO[2](app.url, {});
    const [, data] = await peer.ask(handler, { token });
    await peer.close();
    return data;
  };
const KINDS: [kind: string, callOf: CallOf][] = [
  ['a controller', (handler) => overHttp(`/${handler}`)],
  ['a resolver', overGraphql],
  ['a gateway', overSocket],
  ['a message handler', overMessages],
];
/** A part that is read after the call has no user: never that of another caller. */
const STREAMS: [user: string, path: string][] = [
  ['that of the own call', 'events'],
  ['none', 'file'],
];

describe.each(platforms('Fastify'))('the user in a service, with the guide, on %s', (_name, platform) => {
  let every: EveryKind;
  beforeAll(async () => {
    every = await startEveryKind(platform, {
      options: { cache: { ttlMs: 60_000 } },
      imports: [ClsModule.forRoot({ global: true })],
      controllers: [NamesController],
      providers: [
        Profile,
        NamesResolver,
        NamesGateway,
        { provide: APP_INTERCEPTOR, useClass: UserInterceptor },
      ],
    });
  });
  afterAll(() => every.close());

  const waitFor = (together: number): void => void (every.app.app.get(Profile).together = together);
  const signIn = (username: string): string => every.service.signInAs({ username }, username);

  it.each(KINDS)(
    'is that of the own call, of two interleaved ones of %s, also in a timer [P40]',
    async (_kind, callOf) => {
      waitFor(2);
      const answers = ['ann', 'bob'].map((name) => callOf('me')(every, signIn(name)));
      expect(await Promise.all(answers)).toEqual(['ann ann ann', 'bob bob bob']);
    },
  );

  it.each(KINDS)('is none in %s that is public', async (_kind, callOf) => {
    expect(await callOf('open')(every, signIn('ann'))).toBe('none');
  });

  it('is that of each field of one operation', async () => {
    waitFor(2);
    const answers = await overGraphql('first: me open second: me')(every, signIn('carol'));
    expect(answers).toEqual(['carol carol carol', 'none', 'carol carol carol']);
  });

  it('is that of each message of one socket', async () => {
    waitFor(2);
    const peer = await SOCKET_IO[2](every.app.url, {});
    for (const name of ['ann', 'bob']) peer.send('me', { token: signIn(name) });
    await until('two answers', () => peer.received.length === 2);
    await peer.close();
    const answers = peer.received.map(([, data]) => data);
    expect(answers.sort()).toEqual(['ann ann ann', 'bob bob bob']);
  });

  it.each(STREAMS)('is %s in each part of a stream: %s [P40]', async (user, path) => {
    const partsFor = async (name: string): Promise<string[]> => {
      const text = await (await every.app.get(`/${path}`, signIn(name))).text();
      return text.split('\n').filter((line) => line.startsWith('data'));
    };
    const names = ['ann', 'bob'];
    const expected = names.map((name) => Array<string>(3).fill(`data: ${user === 'none' ? user : name}`));
    expect(await Promise.all(names.map(partsFor))).toEqual(expected);
  });
});

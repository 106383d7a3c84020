import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Res, Sse, StreamableFile, UseGuards, type MessageEvent } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { SessionAuthGuard } from 'nestjs-session-auth';
import { sessionContext } from 'nestjs-session-auth/context';
import { interval, map, mergeMap, take, type Observable } from 'rxjs';
import { NEST_MAJOR } from '../support/nest-major.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { ProfileService } from './profile.service.js';

const PARTS = 4;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Replies in parts, each of which is the name of the current user. */
@Controller()
@UseGuards(SessionAuthGuard)
class NamesController {
  constructor(private readonly profile: ProfileService) {}

  @Sse('sse')
  sse(): Observable<MessageEvent> {
    return interval(2).pipe(
      take(PARTS),
      mergeMap(() => this.profile.nameLater()),
      map((data) => ({ data })),
    );
  }

  @Get('generator')
  async *generator(): AsyncGenerator<string> {
    for (let part = 0; part < PARTS; part += 1) {
      yield `data: ${this.profile.name()}\n`;
      await pause(2);
      await this.profile.nameLater();
    }
  }

  /** Its `read` is called by what consumes it. */
  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(this.#readable());
  }

  @Get('readable')
  readable(): Readable {
    return this.#readable();
  }

  @Get('readable-from')
  readableFrom(): Readable {
    return Readable.from(this.generator());
  }

  @Get('events-of-a-stream')
  eventsOfStream(): StreamableFile {
    const out = new PassThrough();
    const source = this.#readable();
    source.on('data', (part: Buffer) => out.write(`${part.toString().trim()}/${this.profile.name()}\n`));
    source.on('end', () => out.end());
    return new StreamableFile(out);
  }

  @Get('web')
  web(): ReadableStream {
    let part = 0;
    const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
      if (part === PARTS) controller.close();
      else controller.enqueue(`data: ${this.profile.name()}\n`);
      part += 1;
      await pause(2);
    };
    return new ReadableStream({ pull }, { highWaterMark: 0 });
  }

  @Get('timers')
  timers(@Res() reply: Reply): void {
    reply.hijack?.();
    const response = reply.raw ?? reply;
    response.writeHead(200, { 'content-type': 'text/plain' });
    let part = 0;
    const writing = setInterval(() => {
      part += 1;
      response.write(`data: ${this.profile.name()}\n`);
      if (part < PARTS) return;
      clearInterval(writing);
      response.end();
    }, 2);
  }

  /** Reads itself: each part is asked for when the one before has been sent. */
  #readable(): Readable {
    let part = 0;
    const profile = this.profile;
    return new Readable({
      highWaterMark: 1,
      read() {
        setTimeout(() => {
          part += 1;
          this.push(part > PARTS ? null : `data: ${profile.name()}\n`);
        }, 1);
        if (part > 0 && profile.name() === 'anonymous') this.push('outside\n');
      },
    });
  }
}

type Reply = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

const KINDS = [
  ['@Sse()', 'sse'],
  ['a StreamableFile', 'file'],
  ['listeners of a stream', 'events-of-a-stream'],
  ['timers of a reply that the handler writes itself', 'timers'],
  ...(NEST_MAJOR === 12
    ? ([
        ['an async generator', 'generator'],
        ['a stream of Node.js', 'readable'],
        ['a stream of a generator', 'readable-from'],
        ['a ReadableStream', 'web'],
      ] as const)
    : []),
] as const;

describe.each(PLATFORMS)('the current user in parts of a reply, on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(KINDS)('is that of the call, among many: %s [P40]', async (_kind, path) => {
    const service = await bed.service();
    const { url } = await bed.sample({
      baseUrl: service.url,
      options: { plugins: [sessionContext], cache: { ttlMs: 60_000 } },
      controllers: [NamesController],
      providers: [ProfileService],
    });
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const read = async (username: string): Promise<Set<string>> => {
      const headers = { 'x-auth-token': service.signInAs({ username }, username) };
      const texts = await Promise.all(
        [1, 2].map(async () => (await fetch(`${url}/${path}`, { headers })).text()),
      );
      return new Set(texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith('data'))));
    };
    const expected = (name: string): Set<string> =>
      new Set([path === 'events-of-a-stream' ? `data: ${name}/${name}` : `data: ${name}`]);
    expect(await Promise.all(names.map(read))).toEqual(names.map(expected));
  });
});

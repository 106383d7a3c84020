import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Controller,
  Get,
  Param,
  Post,
  Res,
  Sse,
  StreamableFile,
  UseGuards,
  type CanActivate,
  type MessageEvent,
} from '@nestjs/common';
import { AuthToken, CurrentUser, KeepOpen, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { interval, map, startWith, type Observable } from 'rxjs';
import type { ScriptedService } from '../support/scripted-service.js';

const EVERY_MS = 5;

/** Counts the sources that still run: a handler notices that its client has gone. */
export class Sources {
  running = 0;
  /** Parts of a large reply that the handler has written. */
  written = 0;
  /** The late handlers that wait for `begin()`. */
  readonly waiting: (() => void)[] = [];

  begin(): void {
    for (const begin of this.waiting.splice(0)) begin();
  }
}

export function checksOf({ requests }: ScriptedService, token: string): number {
  return requests.filter(
    ({ operation, headers }) => operation === 'user_details' && headers['x-auth-token'] === token,
  ).length;
}

const replaceUser: CanActivate = {
  canActivate(context) {
    context.switchToHttp().getRequest<{ user?: unknown }>().user = {};
    return true;
  },
};

/** Replies that are written in parts: `part 0`, `part 1` and so on, without end. */
@Controller()
@UseGuards(SessionAuthGuard)
export class StreamsController {
  constructor(
    private readonly sources: Sources,
    private readonly sessions: SessionAuthService,
  ) {}

  @Sse('sse')
  sse(@CurrentUser('username') username = ''): Observable<MessageEvent> {
    return interval(EVERY_MS).pipe(
      startWith(-1),
      map((part) => ({ data: `part ${part} ${username}` })),
    );
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Readable.from(this.#parts()));
  }

  @Get('late-file')
  async lateFile(): Promise<StreamableFile> {
    await this.#turn();
    return this.file();
  }

  @Get('late-events')
  async lateEvents(@Res() reply: Reply): Promise<void> {
    await this.#turn();
    this.ownEvents(reply);
  }

  /** The head is built before the first part, and not sent: over HTTP/1, Node.js sends them together. */
  @Get('late-part')
  async latePart(@Res() reply: Reply): Promise<void> {
    const response = raw(reply);
    response.writeHead(200, { 'content-type': 'text/plain', 'content-disposition': 'attachment' });
    await this.#turn();
    this.#write(response, (part) => `part ${part}\n`);
  }

  @Get('late-text')
  async lateText(): Promise<string> {
    await this.#turn();
    return 'a text';
  }

  /** Writes one part, which a middleware that compresses keeps, and waits. */
  @Get('compressed')
  async compressed(@Res() reply: Reply): Promise<void> {
    const response = raw(reply);
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('part 0');
    await this.#turn();
  }

  /** 64 parts of 64 KiB, each of which is written when the client, or the library, takes more. */
  @Get('large')
  async large(@Res() reply: Reply): Promise<void> {
    const response = raw(reply);
    for (let part = 0; part < 64; part += 1) {
      this.sources.written += 1;
      if (!response.write('x'.repeat(65_536))) await once(response, 'drain');
    }
    response.end();
  }

  /** 32 MiB at once: more than the buffers of the operating system take for a client that reads nothing. */
  @Get('unread/:type')
  unread(@Res() reply: Reply, @Param('type') type: string): void {
    const response = raw(reply);
    this.sources.running += 1;
    response.once('close', () => (this.sources.running -= 1));
    response.writeHead(200, { 'content-type': `text/${type}` });
    const part = `data: ${'x'.repeat(65_536)}\n\n`;
    for (let count = 0; count < 512; count += 1) response.write(part);
  }

  @Get('generator')
  generator(): AsyncGenerator<string> {
    return this.#parts();
  }

  @Get('readable')
  readable(): Readable {
    return Readable.from(this.#parts());
  }

  @Get('web')
  web(): ReadableStream {
    return Readable.toWeb(Readable.from(this.#parts())) as ReadableStream;
  }

  /** Writes itself, without looking whether its client has gone. */
  @Get('own')
  own(@Res() reply: Reply): void {
    const response = raw(reply);
    response.writeHead(200, { 'content-type': 'text/plain' });
    this.#write(response, (part) => `part ${part}\n`);
  }

  /** The same, after two admissions: the user was replaced in between. */
  @Get('admitted-twice')
  @UseGuards(replaceUser, SessionAuthGuard)
  admittedTwice(@Res() reply: Reply): void {
    this.own(reply);
  }

  /** As `own`, in events. */
  @Get('own-events')
  ownEvents(@Res() reply: Reply): void {
    const response = raw(reply);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    this.#write(response, (part) => `data: part ${part}\n\n`);
  }

  @Get('kept')
  @KeepOpen()
  kept(): StreamableFile {
    return this.file();
  }

  /** Ends its own session, and answers with a stream of a known length. */
  @Post('sign-out')
  async signOut(@AuthToken() token: string): Promise<StreamableFile> {
    await this.sessions.signOut(token);
    return new StreamableFile(Readable.from(['go', 'od', 'bye']));
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.sources.waiting.push(resolve));
  }

  async *#parts(): AsyncGenerator<string> {
    this.sources.running += 1;
    try {
      for (let part = 0; ; part += 1) {
        yield `part ${part}\n`;
        await pause(EVERY_MS);
      }
    } finally {
      this.sources.running -= 1;
    }
  }

  #write(response: ServerResponse, text: (part: number) => string): void {
    let part = 0;
    const writing = setInterval(() => {
      if (part > 400) {
        clearInterval(writing);
        response.end('the end');
      } else response.write(text((part += 1)));
    }, EVERY_MS).unref();
  }
}

type Reply = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

function raw(reply: Reply): ServerResponse {
  reply.hijack?.();
  return reply.raw ?? reply;
}

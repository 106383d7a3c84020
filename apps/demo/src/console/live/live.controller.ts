import { type Socket } from 'node:net';
import { Controller, type MessageEvent, Req, Res, ServiceUnavailableException, Sse } from '@nestjs/common';
import { defer, finalize, map, merge, type Observable, of, takeUntil, timer } from 'rxjs';
import { LIVE_RETRY_SECONDS } from '../messages.js';
import { LiveFeed } from './live-feed.js';
import { StreamPlaces } from './stream-places.js';

const MAX_STREAMS = 64;
const MAX_STREAMS_PER_ADDRESS = 16;
/** Characters that may wait for a client that does not read, which is then cut off. The last minute is less than half of them. */
const MAX_PENDING_LENGTH = 256 * 1024;
/** A page comes back by itself. A stream that nobody reads ends, with what was kept for it. */
const MAX_STREAM_MS = 600_000;
const RETRY_MS = 1_000;

/** The parts of a request and a reply that Express and Fastify share. */
interface Request {
  readonly socket: Pick<Socket, 'remoteAddress'>;
}
interface Reply {
  header(name: string, value: string): unknown;
}

/** What the guard does, live: first the last minute, then a report twice a second. */
@Controller('console/live')
export class LiveController {
  readonly #places = new StreamPlaces(MAX_STREAMS, MAX_STREAMS_PER_ADDRESS);

  constructor(private readonly feed: LiveFeed) {}

  @Sse('', { maxPendingDataLength: MAX_PENDING_LENGTH })
  stream(@Req() { socket }: Request, @Res({ passthrough: true }) reply: Reply): Observable<MessageEvent> {
    // A place is taken when the stream begins: one whose client has left by then never does, and would never end.
    return defer(() => {
      const giveBack = this.#places.take(socket.remoteAddress ?? '');
      if (giveBack) return this.#reports().pipe(finalize(giveBack));
      reply.header('Retry-After', String(LIVE_RETRY_SECONDS));
      throw new ServiceUnavailableException('Too many pages watch the guard already: close one, or try again later.');
    });
  }

  #reports(): Observable<MessageEvent> {
    const history = of<MessageEvent>({ type: 'history', data: [...this.feed.history], retry: RETRY_MS });
    const reports = this.feed.reports.pipe(map((report): MessageEvent => ({ type: 'report', data: report })));
    return merge(history, reports).pipe(takeUntil(timer(MAX_STREAM_MS)));
  }
}

import { type Socket } from 'node:net';
import { Controller, type MessageEvent, Req, Res, ServiceUnavailableException, Sse } from '@nestjs/common';
import {
  defer,
  endWith,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  share,
  takeUntil,
  timer,
} from 'rxjs';
import { LIVE_RETRY_SECONDS } from '../messages.js';
import { LiveFeed } from './live-feed.js';
import { StreamPlaces } from './stream-places.js';

const MAX_STREAMS = 64;
const MAX_STREAMS_PER_ADDRESS = 16;
/**
 * Characters that are buffered for a slow client before it is disconnected; more than twice the last minute's
 * reports.
 */
const MAX_PENDING_LENGTH = 256 * 1024;
/** Ends abandoned streams, with their buffers. An open page reconnects by itself. */
const MAX_STREAM_MS = 600_000;
const RETRY_MS = 1_000;

/** The parts of a request and a reply that Express and Fastify share. */
interface Request {
  readonly socket: Pick<Socket, 'remoteAddress'>;
}
interface Reply {
  header(name: string, value: string): unknown;
}

/**
 * Streams the activity of the guard: first the last minute, then a report twice a second, and each request as
 * it passes.
 */
@Controller('console/live')
export class LiveController {
  readonly #places = new StreamPlaces(MAX_STREAMS, MAX_STREAMS_PER_ADDRESS);

  constructor(private readonly feed: LiveFeed) {}

  @Sse('', { maxPendingDataLength: MAX_PENDING_LENGTH })
  stream(@Req() { socket }: Request, @Res({ passthrough: true }) reply: Reply): Observable<MessageEvent> {
    // Takes a place on subscription: without it, a client that has already disconnected would keep the place
    // forever.
    return defer(() => {
      const giveBack = this.#places.take(socket.remoteAddress ?? '');
      if (giveBack) return this.#reports().pipe(finalize(giveBack));
      reply.header('Retry-After', String(LIVE_RETRY_SECONDS));
      throw new ServiceUnavailableException('Too many pages watch the guard. Close one, or try again later.');
    });
  }

  #reports(): Observable<MessageEvent> {
    const history = of<MessageEvent>({ type: 'history', data: [...this.feed.history], retry: RETRY_MS });
    const shared = this.feed.reports.pipe(share());
    const reports = shared.pipe(map((report): MessageEvent => ({ type: 'report', data: report })));
    const marks = this.feed.marks.pipe(
      takeUntil(shared.pipe(ignoreElements(), endWith('closed'))),
      map((batch): MessageEvent => ({ type: 'marks', data: batch })),
    );
    return merge(history, reports, marks).pipe(takeUntil(timer(MAX_STREAM_MS)));
  }
}

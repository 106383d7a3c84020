import { Controller, type MessageEvent, ServiceUnavailableException, Sse } from '@nestjs/common';
import { defer, finalize, map, merge, type Observable, of, takeUntil, timer } from 'rxjs';
import { LiveFeed } from './live-feed.js';

const MAX_STREAMS = 50;
/** A page comes back by itself. A stream that nobody reads ends, with what was kept for it. */
const MAX_STREAM_MS = 600_000;
const RETRY_MS = 1_000;

/** What the guard does, live: first the last minute, then a report twice a second. */
@Controller('console/live')
export class LiveController {
  #streams = 0;

  constructor(private readonly feed: LiveFeed) {}

  @Sse()
  stream(): Observable<MessageEvent> {
    // Counted when it begins: a stream whose client has left by then never does, and would never end.
    return defer(() => this.#begin());
  }

  #begin(): Observable<MessageEvent> {
    if (this.#streams >= MAX_STREAMS) throw new ServiceUnavailableException('Too many pages watch the guard already.');
    this.#streams += 1;
    const history = of<MessageEvent>({ type: 'history', data: [...this.feed.history], retry: RETRY_MS });
    const reports = this.feed.reports.pipe(map((report): MessageEvent => ({ type: 'report', data: report })));
    return merge(history, reports).pipe(
      takeUntil(timer(MAX_STREAM_MS)),
      finalize(() => (this.#streams -= 1)),
    );
  }
}

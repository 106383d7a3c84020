import { useEffect, useRef, useState } from 'preact/hooks';
import { LIVE_RETRY_SECONDS, type LiveReport, type Marks } from '../../src/console/messages.js';
import { type MarkSource } from '../lane/animation.js';

/**
 * State of the live stream: open; broken (interrupted, or not open yet); or refused, for example because too
 * many pages watch.
 */
export type Connection = 'open' | 'broken' | 'refused';

/** The live stream. */
export interface Live {
  readonly connection: Connection;
  /** The latest report. */
  readonly report: LiveReport | undefined;
  /** Calls back with the requests as they pass. */
  readonly onMarks: MarkSource;
}

/** Receives the live reports of the guard and the requests, and reconnects if the stream is interrupted. */
export function useLive(): Live {
  const [connection, setConnection] = useState<Connection>('broken');
  const [report, setReport] = useState<LiveReport>();
  const listeners = useRef(new Set<(marks: Marks) => void>());
  const onMarks = useRef<MarkSource>((listener) => {
    listeners.current.add(listener);
    return () => void listeners.current.delete(listener);
  });
  useEffect(
    () =>
      follow({
        onConnection: setConnection,
        onReport: setReport,
        onMarks: (marks) => listeners.current.forEach((listener) => listener(marks)),
      }),
    [],
  );
  return { connection, report, onMarks: onMarks.current };
}

interface Listener {
  readonly onConnection: (connection: Connection) => void;
  readonly onReport: (report: LiveReport | undefined) => void;
  readonly onMarks: (marks: Marks) => void;
}

function follow(listener: Listener): () => void {
  const stream = new EventSource('/console/live');
  let stop = () => stream.close();
  stream.addEventListener('open', () => listener.onConnection('open'));
  stream.addEventListener('history', ({ data }: MessageEvent<string>) =>
    listener.onReport((JSON.parse(data) as LiveReport[]).at(-1)),
  );
  stream.addEventListener('report', ({ data }: MessageEvent<string>) =>
    listener.onReport(JSON.parse(data) as LiveReport),
  );
  stream.addEventListener('marks', ({ data }: MessageEvent<string>) =>
    listener.onMarks(JSON.parse(data) as Marks),
  );
  stream.addEventListener('error', () => {
    // The browser reconnects by itself, unless the response is not a stream.
    const isRefused = stream.readyState === EventSource.CLOSED;
    listener.onConnection(isRefused ? 'refused' : 'broken');
    if (!isRefused) return;
    const timer = setTimeout(() => (stop = follow(listener)), LIVE_RETRY_SECONDS * 1000);
    stop = () => clearTimeout(timer);
  });
  return () => stop();
}

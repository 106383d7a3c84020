import { useEffect, useState } from 'preact/hooks';
import { LIVE_RETRY_SECONDS, type LiveReport, REPORTS_KEPT } from '../../src/console/messages.js';

/** State of the live stream: open; broken (interrupted, or not open yet); or refused, for example because too many pages watch. */
export type Connection = 'open' | 'broken' | 'refused';

/** The live stream. */
export interface Live {
  readonly connection: Connection;
  /** The reports of the last minute, oldest first. */
  readonly reports: readonly LiveReport[];
}

/** Receives the live reports of the guard, and reconnects if the stream is interrupted. */
export function useLive(): Live {
  const [connection, setConnection] = useState<Connection>('broken');
  const [reports, setReports] = useState<readonly LiveReport[]>([]);
  useEffect(
    () =>
      follow({
        onConnection: setConnection,
        onHistory: setReports,
        onReport: (report) => setReports((before) => [...before, report].slice(-REPORTS_KEPT)),
      }),
    [],
  );
  return { connection, reports };
}

interface Listener {
  readonly onConnection: (connection: Connection) => void;
  readonly onHistory: (reports: readonly LiveReport[]) => void;
  readonly onReport: (report: LiveReport) => void;
}

function follow(listener: Listener): () => void {
  const stream = new EventSource('/console/live');
  let stop = () => stream.close();
  stream.addEventListener('open', () => listener.onConnection('open'));
  stream.addEventListener('history', ({ data }: MessageEvent<string>) => listener.onHistory(JSON.parse(data) as LiveReport[]));
  stream.addEventListener('report', ({ data }: MessageEvent<string>) => listener.onReport(JSON.parse(data) as LiveReport));
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

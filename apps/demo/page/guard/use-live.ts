import { useEffect, useState } from 'preact/hooks';
import { LIVE_RETRY_SECONDS, type LiveReport, REPORTS_KEPT } from '../../src/console/messages.js';

/** How the live stream stands: open, broken off or not open yet, or refused, as when too many pages watch. */
export type Connection = 'open' | 'broken' | 'refused';

export interface Live {
  readonly connection: Connection;
  /** Those of the last minute, oldest first. */
  readonly reports: readonly LiveReport[];
}

/** Follows the guard's live reports, and comes back when the stream breaks. */
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
  let leave = () => stream.close();
  stream.addEventListener('open', () => listener.onConnection('open'));
  stream.addEventListener('history', ({ data }: MessageEvent<string>) => listener.onHistory(JSON.parse(data) as LiveReport[]));
  stream.addEventListener('report', ({ data }: MessageEvent<string>) => listener.onReport(JSON.parse(data) as LiveReport));
  stream.addEventListener('error', () => {
    // The browser tries again by itself, unless what answered was no stream.
    const isRefused = stream.readyState === EventSource.CLOSED;
    listener.onConnection(isRefused ? 'refused' : 'broken');
    if (!isRefused) return;
    const timer = setTimeout(() => (leave = follow(listener)), LIVE_RETRY_SECONDS * 1000);
    leave = () => clearTimeout(timer);
  });
  return () => leave();
}

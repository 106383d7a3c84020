import { useEffect, useState } from 'preact/hooks';
import { type LiveReport, REPORTS_KEPT } from '../../src/console/messages.js';

const RECONNECT_MS = 2000;

export interface Live {
  readonly connected: boolean;
  /** Those of the last minute, oldest first. */
  readonly reports: readonly LiveReport[];
}

/** Follows the guard's live reports, and comes back when the stream breaks. */
export function useLive(): Live {
  const [connected, setConnected] = useState(false);
  const [reports, setReports] = useState<readonly LiveReport[]>([]);
  useEffect(
    () =>
      follow({
        onConnection: setConnected,
        onHistory: setReports,
        onReport: (report) => setReports((before) => [...before, report].slice(-REPORTS_KEPT)),
      }),
    [],
  );
  return { connected, reports };
}

interface Listener {
  readonly onConnection: (connected: boolean) => void;
  readonly onHistory: (reports: readonly LiveReport[]) => void;
  readonly onReport: (report: LiveReport) => void;
}

function follow(listener: Listener): () => void {
  const stream = new EventSource('/console/live');
  let leave = () => stream.close();
  stream.addEventListener('open', () => listener.onConnection(true));
  stream.addEventListener('history', ({ data }: MessageEvent<string>) => listener.onHistory(JSON.parse(data) as LiveReport[]));
  stream.addEventListener('report', ({ data }: MessageEvent<string>) => listener.onReport(JSON.parse(data) as LiveReport));
  stream.addEventListener('error', () => {
    listener.onConnection(false);
    // The browser tries again by itself, unless what answered was no stream.
    if (stream.readyState !== EventSource.CLOSED) return;
    const timer = setTimeout(() => (leave = follow(listener)), RECONNECT_MS);
    leave = () => clearTimeout(timer);
  });
  return () => leave();
}

import { useEffect, useState } from 'preact/hooks';
import { type Load, type LoadResult, STEADY_SECONDS } from '../../src/console/messages.js';
import { count, counted, duration } from '../text.js';
import { ConsoleError, messageOf, startLoad, stopLoad } from '../console/console-api.js';

const ALREADY_RUNNING = 409;
const WATCH = 'Running: watch the lane.';

/** The run of load, with its actions. */
export interface LoadRun {
  readonly running: Load | undefined;
  /** The state or the result of the last run, in a sentence. */
  readonly status: string;
  readonly start: (load: Load, token: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts and stops load, one run at a time, and reports its result. */
export function useLoad(): LoadRun {
  const [running, setRunning] = useState<Load>();
  const [status, setStatus] = useState('');
  useEffect(() => {
    if (running !== 'steady') return undefined;
    const timer = setTimeout(() => {
      setRunning(undefined);
      setStatus('The steady load has ended.');
    }, STEADY_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [running]);

  const start = async (load: Load, token: string) => {
    setRunning(load);
    setStatus(load === 'steady' ? WATCH : 'Running…');
    const started = await startLoad(load, token).then(succeeded, failed);
    setRunning(started.running);
    setStatus(started.status);
  };
  const stop = async () => {
    setStatus(await stopLoad().then(() => 'Stopped.', messageOf));
    setRunning(undefined);
  };
  return { running, status, start, stop };
}

interface Started {
  readonly running?: Load;
  readonly status: string;
}

function succeeded(result: LoadResult | undefined): Started {
  return result ? { status: describe(result) } : { running: 'steady', status: WATCH };
}

function failed(error: unknown): Started {
  if (error instanceof ConsoleError && error.status === ALREADY_RUNNING)
    return { running: 'steady', status: 'A run of load is already in progress.' };
  return { status: messageOf(error) };
}

/** `500 requests, 500 answered 200, 1 call to the session service, 180 ms.` */
function describe({ statuses, lost, calls, tookMs }: LoadResult): string {
  const replies = Object.entries(statuses);
  const requests = replies.reduce((sum, [, number]) => sum + number, lost);
  return [
    counted(requests, 'request'),
    ...replies.map(([status, number]) => `${count(number)} answered ${status}`),
    ...(lost > 0 ? [`${count(lost)} without a reply`] : []),
    `${counted(calls, 'call')} to the session service`,
    `${duration(tookMs)}.`,
  ].join(', ');
}

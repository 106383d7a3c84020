import { useEffect, useState } from 'preact/hooks';
import { type Load, type LoadResult, STEADY_SECONDS } from '../../src/console/messages.js';
import { count, counted, duration } from '../text.js';
import { ConsoleError, sayFailure, startLoad, stopLoad } from './console-api.js';

const ALREADY_RUNNING = 409;
const WATCH = 'Under way: watch the guard.';

export interface LoadRun {
  readonly running: Load | undefined;
  /** What the last run came to, in a sentence. */
  readonly said: string;
  readonly start: (load: Load, token: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Runs load, one run at a time, and says what it came to. */
export function useLoad(): LoadRun {
  const [running, setRunning] = useState<Load>();
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (running !== 'steady') return undefined;
    const timer = setTimeout(() => {
      setRunning(undefined);
      setSaid('The steady load is over.');
    }, STEADY_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [running]);

  const start = async (load: Load, token: string) => {
    setRunning(load);
    setSaid(load === 'steady' ? WATCH : 'Under way…');
    const { still, says } = await startLoad(load, token).then(told, refused);
    setRunning(still);
    setSaid(says);
  };
  const stop = async () => {
    setSaid(await stopLoad().then(() => 'Stopped.', sayFailure));
    setRunning(undefined);
  };
  return { running, said, start, stop };
}

interface Told {
  readonly still?: Load;
  readonly says: string;
}

function told(result: LoadResult | undefined): Told {
  return result ? { says: sayResult(result) } : { still: 'steady', says: WATCH };
}

function refused(error: unknown): Told {
  if (error instanceof ConsoleError && error.status === ALREADY_RUNNING)
    return { still: 'steady', says: 'A run of load is under way already.' };
  return { says: sayFailure(error) };
}

/** `500 requests, 500 answered 200, 1 call to the session service, 180 ms.` */
function sayResult({ statuses, lost, calls, tookMs }: LoadResult): string {
  const answers = Object.entries(statuses);
  const requests = answers.reduce((sum, [, number]) => sum + number, lost);
  return [
    counted(requests, 'request'),
    ...answers.map(([status, number]) => `${count(number)} answered ${status}`),
    ...(lost > 0 ? [`${count(lost)} without a reply`] : []),
    `${counted(calls, 'call')} to the session service`,
    `${duration(tookMs)}.`,
  ].join(', ');
}

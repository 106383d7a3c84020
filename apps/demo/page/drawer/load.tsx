import { type VNode } from 'preact';
import {
  type Load,
  STAMPEDE_REQUESTS,
  STEADY_REQUESTS_PER_SECOND,
  STEADY_SECONDS,
} from '../../src/console/messages.js';
import { type LoadRun, useLoad } from './use-load.js';

/** Sends many requests with the session of the caller. */
export function LoadControl({ token }: { readonly token: string | undefined }): VNode {
  const run = useLoad();
  const reason = token === undefined ? 'Choose a user first: the load needs a session.' : undefined;
  return (
    <section class="control" aria-labelledby="load">
      <h3 id="load">Load</h3>
      <div class="line">
        <Start load="stampede" run={run} token={token} />
        <Start load="steady" run={run} token={token} />
      </div>
      <p id="load-status" class="hint" aria-live="polite">
        {run.running === undefined ? (reason ?? run.status) : run.status}
      </p>
    </section>
  );
}

const START_LABELS: Readonly<Record<Load, string>> = {
  stampede: `${STAMPEDE_REQUESTS} at once`,
  steady: `${STEADY_REQUESTS_PER_SECOND} a second, for ${STEADY_SECONDS} s`,
};

interface StartProps {
  readonly load: Load;
  readonly run: LoadRun;
  readonly token: string | undefined;
}

/**
 * Starts a run of load, and stops a steady one. While it can't start one, it keeps the keyboard focus and
 * explains why.
 */
function Start({ load, run, token }: StartProps): VNode {
  const stops = load === 'steady' && run.running === load;
  const off = !stops && (token === undefined || run.running !== undefined);
  const act = (): void => {
    if (stops) void run.stop();
    else if (token !== undefined && !off) void run.start(load, token);
  };
  return (
    <button type="button" aria-disabled={off} aria-describedby="load-status" onClick={act}>
      {stops ? 'Stop the load' : START_LABELS[load]}
    </button>
  );
}

import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Load, STAMPEDE_REQUESTS, STEADY_REQUESTS_PER_SECOND, STEADY_SECONDS } from '../../src/console/messages.js';
import { type PaneName, type Tokens } from '../pane/pane-name.js';
import { Segmented } from './segmented.js';
import { type LoadRun } from './use-load.js';

const PANE_OPTIONS = [
  { value: 'A', label: 'User A' },
  { value: 'B', label: 'User B' },
] as const;

interface LoadProps {
  readonly run: LoadRun;
  readonly tokens: Tokens;
}

/** Sends many requests with the session of one of the two users. */
export function LoadControl({ run, tokens }: LoadProps): VNode {
  const [pane, setPane] = useState<PaneName>('A');
  const token = tokens[pane];
  const reason = token === undefined ? `Sign in as user ${pane} first: the load needs a session.` : undefined;
  return (
    <section class="control" aria-labelledby="load">
      <div class="control-head">
        <h2 id="load">Load</h2>
        <Segmented name="load-session" legend="Whose session" options={PANE_OPTIONS} value={pane} choose={setPane} />
      </div>
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
  stampede: `Stampede: ${STAMPEDE_REQUESTS} requests at once`,
  steady: `Steady: ${STEADY_REQUESTS_PER_SECOND} per second for ${STEADY_SECONDS} s`,
};

interface StartProps {
  readonly load: Load;
  readonly run: LoadRun;
  readonly token: string | undefined;
}

/** Starts a run of load, and stops a steady one. While it can't start one, it keeps the keyboard focus and explains why. */
function Start({ load, run, token }: StartProps): VNode {
  const stops = load === 'steady' && run.running === load;
  const off = !stops && (token === undefined || run.running !== undefined);
  const act = () => {
    if (stops) void run.stop();
    else if (token !== undefined && !off) void run.start(load, token);
  };
  return (
    <button type="button" class="small" aria-disabled={off} aria-describedby="load-status" onClick={act}>
      {stops ? 'Stop the load' : START_LABELS[load]}
    </button>
  );
}

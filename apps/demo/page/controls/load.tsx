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

/** Many requests with the session of one of the two users. */
export function LoadControl({ run, tokens }: LoadProps): VNode {
  const [pane, setPane] = useState<PaneName>('A');
  const token = tokens[pane];
  const reason = token === undefined ? `Sign in as user ${pane} first: load needs a session.` : undefined;
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
      <p id="load-said" class="hint" aria-live="polite">
        {run.running === undefined ? (reason ?? run.said) : run.said}
      </p>
    </section>
  );
}

const START_LABELS: Readonly<Record<Load, string>> = {
  stampede: `Stampede: ${STAMPEDE_REQUESTS} requests at once`,
  steady: `Steady: ${STEADY_REQUESTS_PER_SECOND} a second for ${STEADY_SECONDS} s`,
};

interface StartProps {
  readonly load: Load;
  readonly run: LoadRun;
  readonly token: string | undefined;
}

/** Stays in reach of the keyboard while it can't start anything, and says why. What goes on for a while can be stopped. */
function Start({ load, run, token }: StartProps): VNode {
  const stops = load === 'steady' && run.running === load;
  const off = !stops && (token === undefined || run.running !== undefined);
  const act = () => {
    if (stops) void run.stop();
    else if (token !== undefined && !off) void run.start(load, token);
  };
  return (
    <button type="button" class="small" aria-disabled={off} aria-describedby="load-said" onClick={act}>
      {stops ? 'Stop the load' : START_LABELS[load]}
    </button>
  );
}

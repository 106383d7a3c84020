import { type VNode } from 'preact';
import { Controls } from '../controls/controls.js';
import { type LoadRun } from '../controls/use-load.js';
import { type Tokens } from '../pane/pane-name.js';
import { Guard } from './guard.js';
import { useLive } from './use-live.js';

interface PanelProps {
  readonly controls: boolean;
  readonly run: LoadRun;
  readonly tokens: Tokens;
}

/** Renders the live view of the guard, with the controls below it. */
export function Panel({ controls, run, tokens }: PanelProps): VNode {
  const live = useLive();
  const report = live.reports.at(-1);
  return (
    <div class="panel">
      <Guard live={live} controls={controls} />
      {controls && report && <Controls report={report} run={run} tokens={tokens} />}
    </div>
  );
}

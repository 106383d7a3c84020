import { type VNode } from 'preact';
import { type LiveReport } from '../../src/console/messages.js';
import { type Tokens } from '../pane/pane-name.js';
import { LoadControl } from './load.js';
import { Memory } from './memory.js';
import { SessionService } from './session-service.js';
import { type LoadRun } from './use-load.js';

interface ControlsProps {
  readonly report: LiveReport;
  readonly run: LoadRun;
  readonly tokens: Tokens;
}

/** What a visitor may change, beside what it changes. */
export function Controls({ report, run, tokens }: ControlsProps): VNode {
  return (
    <div class="controls">
      {report.fault !== undefined && <SessionService fault={report.fault} />}
      <LoadControl run={run} tokens={tokens} />
      <Memory cache={report.cache} />
    </div>
  );
}

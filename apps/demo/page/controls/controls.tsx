import { type VNode } from 'preact';
import { type LiveReport } from '../../src/console/messages.js';
import { type Tokens } from '../pane/pane-name.js';
import { LoadControl } from './load.js';
import { SessionCache } from './session-cache.js';
import { SessionService } from './session-service.js';
import { type LoadRun } from './use-load.js';

interface ControlsProps {
  readonly report: LiveReport;
  readonly run: LoadRun;
  readonly tokens: Tokens;
}

/** Renders the settings that a visitor can change. */
export function Controls({ report, run, tokens }: ControlsProps): VNode {
  return (
    <div class="controls">
      {report.fault !== undefined && <SessionService fault={report.fault} />}
      <LoadControl run={run} tokens={tokens} />
      <SessionCache cache={report.cache} />
    </div>
  );
}

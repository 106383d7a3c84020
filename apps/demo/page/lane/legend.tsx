import { type VNode } from 'preact';
import { type Connection } from '../console/use-live.js';
import { count } from '../text.js';
import { type Counts } from './counts.js';
import { KIND_LOOKS, SHOWN_KINDS } from './kinds.js';
import { Sign } from './sign.js';

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  open: 'Each mark is a real request, slowed down to be seen.',
  broken: 'The live stream was interrupted. Reconnecting…',
  refused: 'No live stream: perhaps too many pages watch the guard. Close one. Retrying…',
};

/** Renders what each mark means, with the number of requests. */
export function Legend({ counts, connection }: { readonly counts: Counts; readonly connection: Connection }): VNode {
  return (
    <div class="legend">
      <dl>
        {SHOWN_KINDS.map((kind) => (
          <div key={kind} data-kind={kind} data-none={counts[kind] === 0} title={KIND_LOOKS[kind].meaning}>
            <dt>
              <Sign kind={kind} /> {KIND_LOOKS[kind].label}
            </dt>
            <dd>{count(counts[kind])}</dd>
          </div>
        ))}
      </dl>
      <p class="stream" data-connected={connection === 'open'} aria-live="polite">
        {CONNECTIONS[connection]}
      </p>
    </div>
  );
}

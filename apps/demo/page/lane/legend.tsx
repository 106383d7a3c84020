import { type VNode } from 'preact';
import { type Connection } from '../console/use-live.js';
import { type Trickle } from '../console/use-trickle.js';
import { count } from '../text.js';
import { type Counts } from './counts.js';
import { STRANGERS } from './guard.js';
import { KIND_LOOKS, SHOWN_KINDS } from './kinds.js';
import { Sign } from './sign.js';

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  open: 'Each mark is a real request, slowed down.',
  broken: 'The live stream was interrupted. Reconnecting…',
  refused: 'No live stream: perhaps too many pages watch the guard. Close one. Retrying…',
};

interface LegendProps {
  readonly counts: Counts;
  readonly connection: Connection;
  /** Whether the lane has room for its own descriptions. */
  readonly isRoomy: boolean;
  readonly trickle: Trickle | undefined;
}

/** Renders the meaning of each mark, with the number of requests. */
export function Legend({ counts, connection, isRoomy, trickle }: LegendProps): VNode {
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
      <Note connection={connection} isRoomy={isRoomy} trickle={trickle} />
    </div>
  );
}

function Note({ connection, isRoomy, trickle }: Omit<LegendProps, 'counts'>): VNode {
  return (
    <div class="note">
      <p class="stream" data-connected={connection === 'open'} aria-live="polite">
        {CONNECTIONS[connection]}
      </p>
      {trickle && (
        <button type="button" class="link" onClick={trickle.toggle}>
          {trickle.isOn ? 'Pause' : 'Send a few'}
        </button>
      )}
      {trickle && !isRoomy && <p>Strangers: {STRANGERS}.</p>}
    </div>
  );
}

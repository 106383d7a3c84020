import { type VNode } from 'preact';
import { type BreakerState } from '../../src/console/messages.js';

const LABELS: Readonly<Record<BreakerState, string>> = {
  closed: 'Breaker',
  halfOpen: 'Tries one call',
  open: 'Open: no calls',
};

interface BreakerProps {
  readonly x: number;
  readonly y: number;
  readonly state: BreakerState;
}

/** Draws a switch: its lever is lifted while the breaker is open. */
export function Breaker({ x, y, state }: BreakerProps): VNode {
  return (
    <g class="breaker" data-state={state}>
      <circle cx={x - 16} cy={y} r="4" />
      <circle cx={x + 16} cy={y} r="4" />
      <g transform={`translate(${x - 16} ${y})`}>
        <line class="lever" x1="0" y1="0" x2="32" y2="0" />
      </g>
      <text x={x} y={y + 26}>
        {LABELS[state]}
      </text>
    </g>
  );
}

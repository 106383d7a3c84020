import { type VNode } from 'preact';
import { type MarkKind } from '../../src/console/messages.js';
import { KIND_LOOKS } from './kinds.js';

const SHAPES: Readonly<Record<(typeof KIND_LOOKS)[MarkKind]['shape'], string>> = {
  disc: 'M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z',
  ring: 'M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z',
  diamond: 'M6 0.6L11.4 6L6 11.4L0.6 6z',
  square: 'M2 2h8v8h-8z',
  triangle: 'M6 1L11 10H1z',
  hollow: 'M6 1.6L10.6 9.6H1.4z',
};

/** Renders a mark as the picture shows it, larger. */
export function Sign({ kind }: { readonly kind: MarkKind }): VNode {
  const { shape } = KIND_LOOKS[kind];
  return (
    <svg
      class="sign"
      data-kind={kind}
      data-outline={shape === 'ring' || shape === 'hollow'}
      viewBox="0 0 12 12"
      aria-hidden="true"
    >
      <path d={SHAPES[shape]} />
    </svg>
  );
}

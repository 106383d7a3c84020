import { type MarkKind } from '../../src/console/messages.js';
import { KIND_LOOKS } from './kinds.js';
import { SHAPES } from './shapes.js';
import { drawSprite, type Sprite } from './sprite.js';

const EXTENT = 12;
/** How much larger a bundle is drawn. */
const BUNDLE = 1.8;
const KINDS: readonly MarkKind[] = [
  'cached',
  'joined',
  'asked',
  'denied',
  'turnedBack',
  'unavailable',
  'open',
];

/** A picture of each kind of mark, and of its bundle, drawn once, so that thousands cost little. */
export type Sprites = Readonly<
  Record<MarkKind | 'waiting', { readonly one: Sprite; readonly bundle: Sprite }>
>;

/** Draws the marks in the colours of the element. */
export function drawSprites(element: Element, scale: number): Sprites {
  const style = getComputedStyle(element);
  const draw = (colour: string, shape: keyof typeof SHAPES, radius: number): Sprites['waiting'] => {
    const sized = (factor: number): Sprite =>
      drawSprite(SHAPES[shape](radius), style.getPropertyValue(colour), EXTENT, scale * factor);
    return { one: sized(1), bundle: sized(BUNDLE) };
  };
  const kinds = KINDS.map(
    (kind) => [kind, draw(KIND_LOOKS[kind].colour, KIND_LOOKS[kind].shape, 3)] as const,
  );
  return {
    ...(Object.fromEntries(kinds) as Record<MarkKind, Sprites['waiting']>),
    waiting: draw('--waiting', 'disc', 2.2),
  };
}

import { drawMark, type Sprites } from './sprites.js';
import { type Traffic } from './traffic.js';

/** What the marks are painted on. */
export interface Surface {
  readonly context: CanvasRenderingContext2D | null;
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen per CSS pixel. */
  readonly scale: number;
  sprites: Sprites;
}

/** Paints all marks as they are now. */
export function paint({ context, width, height, scale, sprites }: Surface, { marks }: Traffic, now: number): void {
  if (!context) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const mark of marks.values()) {
    const { x, y } = mark.at(now);
    context.globalAlpha = mark.opacity(now);
    drawMark(context, sprites[mark.shown ?? 'waiting'], x, y, mark.weight);
  }
  context.globalAlpha = 1;
}

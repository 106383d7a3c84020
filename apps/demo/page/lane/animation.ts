import { type Marks } from '../../src/console/messages.js';
import { type Counts } from './counts.js';
import { type Geometry } from './geometry.js';
import { paint, type Surface } from './paint.js';
import { drawSprites } from './sprites.js';
import { type Traffic } from './traffic.js';

const COUNTED_EVERY_MS = 100;
const DARK = '(prefers-color-scheme: dark)';

/** Where the marks of the live stream arrive. */
export type MarkSource = (listener: (marks: Marks) => void) => () => void;

/** Paints while there are marks, and sleeps otherwise. */
export class Animation {
  readonly #canvas: HTMLCanvasElement;
  readonly #traffic: Traffic;
  readonly #onCounts: (counts: Counts) => void;
  readonly #surface: Surface;
  #frame = 0;
  #countedAt = 0;

  constructor(canvas: HTMLCanvasElement, geometry: Geometry, traffic: Traffic, onCounts: (counts: Counts) => void) {
    this.#canvas = canvas;
    this.#traffic = traffic;
    this.#onCounts = onCounts;
    this.#surface = surfaceOf(canvas, geometry);
  }

  /** Starts with the marks of a source. Returns a function that stops it. */
  start(source: MarkSource): () => void {
    const stop = source((marks) => {
      this.#traffic.apply(marks, performance.now());
      if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#draw);
    });
    const scheme = matchMedia(DARK);
    const recolour = (): void => void (this.#surface.sprites = drawSprites(this.#canvas, this.#surface.scale));
    scheme.addEventListener('change', recolour);
    return () => {
      stop();
      cancelAnimationFrame(this.#frame);
      scheme.removeEventListener('change', recolour);
    };
  }

  readonly #draw = (now: number): void => {
    this.#traffic.advance(now);
    const { marks, counts } = this.#traffic;
    paint(this.#surface, this.#traffic, now);
    this.#frame = marks.size > 0 ? requestAnimationFrame(this.#draw) : 0;
    this.#canvas.dataset.marks = String(marks.size);
    if (this.#frame !== 0 && now - this.#countedAt < COUNTED_EVERY_MS) return;
    this.#countedAt = now;
    this.#onCounts(counts);
  };
}

function surfaceOf(canvas: HTMLCanvasElement, { width, height }: Geometry): Surface {
  const scale = Math.min(2, Math.ceil(devicePixelRatio));
  canvas.width = width * scale;
  canvas.height = height * scale;
  return { context: canvas.getContext('2d'), width, height, scale, sprites: drawSprites(canvas, scale) };
}

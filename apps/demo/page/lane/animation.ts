import { type Marks } from '../../src/console/messages.js';
import { type Counts } from './counts.js';
import { type Geometry } from './geometry.js';
import { paint, type Surface, surfaceOf } from './paint.js';
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

  constructor(
    canvas: HTMLCanvasElement,
    geometry: Geometry,
    traffic: Traffic,
    onCounts: (counts: Counts) => void,
  ) {
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
    const recolour = (): void =>
      void (this.#surface.sprites = drawSprites(this.#canvas, this.#surface.scale));
    scheme.addEventListener('change', recolour);
    return () => {
      stop();
      cancelAnimationFrame(this.#frame);
      scheme.removeEventListener('change', recolour);
    };
  }

  readonly #draw = (now: number): void => {
    this.#traffic.advance(now);
    paint(this.#surface, this.#traffic, now);
    const { size } = this.#traffic.marks;
    this.#frame = size > 0 ? requestAnimationFrame(this.#draw) : 0;
    if (this.#frame !== 0 && now - this.#countedAt < COUNTED_EVERY_MS) return;
    this.#countedAt = now;
    this.#canvas.dataset.marks = String(size);
    this.#onCounts(this.#traffic.counts);
  };
}

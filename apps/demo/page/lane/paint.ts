import { Bitmap } from './bitmap.js';
import { type Geometry } from './geometry.js';
import { drawSprites, type Sprites } from './sprites.js';
import { type Traffic } from './traffic.js';

/** The surface for the marks. */
export interface Surface {
  readonly context: CanvasRenderingContext2D | null;
  readonly bitmap: Bitmap;
  readonly image: ImageData;
  /** Pixels of the screen per CSS pixel. */
  readonly scale: number;
  sprites: Sprites;
}

/** Sizes a canvas for the picture. */
export function surfaceOf(canvas: HTMLCanvasElement, { width, height }: Geometry): Surface {
  const scale = Math.min(2, Math.ceil(devicePixelRatio));
  const bitmap = new Bitmap(Math.max(1, width) * scale, height * scale);
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  // The canvas only takes copies of whole pictures: memory of the graphics processor would not make it
  // faster.
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return {
    context,
    bitmap,
    image: new ImageData(bitmap.bytes, bitmap.width, bitmap.height),
    scale,
    sprites: drawSprites(canvas, scale),
  };
}

/** Paints all marks where they are. */
export function paint(
  { context, bitmap, image, scale, sprites }: Surface,
  { marks }: Traffic,
  now: number,
): void {
  bitmap.clear();
  for (const mark of marks.values()) {
    const sprite = sprites[mark.shown ?? 'waiting'];
    bitmap.stamp(
      mark.weight === 1 ? sprite.one : sprite.bundle,
      mark.x * scale,
      mark.y * scale,
      mark.opacity(now),
    );
  }
  context?.putImageData(image, 0, 0);
}

import { type Sprite } from './sprite.js';

const OPAQUE = 255;

/**
 * Pixels that marks are copied into. A canvas takes thousands of them at once in a fraction of the time that
 * it needs to draw each.
 */
export class Bitmap {
  /** Four bytes a pixel: red, green, blue and opacity. */
  readonly bytes: Uint8ClampedArray<ArrayBuffer>;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.bytes = new Uint8ClampedArray(width * height * 4);
  }

  clear(): void {
    this.bytes.fill(0);
  }

  /** Copies a picture with its middle at a point, as whole pixels; at the edge, inside it. */
  stamp({ size, red, green, blue, pixels }: Sprite, x: number, y: number, opacity: number): void {
    const left = Math.max(0, Math.min(Math.round(x - size / 2), this.width - size));
    const top = Math.max(0, Math.min(Math.round(y - size / 2), this.height - size));
    for (let pixel = 0; pixel < pixels.length; pixel += 3) {
      const at = ((top + (pixels[pixel + 1] ?? 0)) * this.width + left + (pixels[pixel] ?? 0)) * 4;
      this.#blend(at, red, green, blue, (pixels[pixel + 2] ?? 0) * opacity);
    }
  }

  #blend(at: number, red: number, green: number, blue: number, opacity: number): void {
    const { bytes } = this;
    const under = bytes[at + 3] ?? 0;
    if (under === 0 || opacity === OPAQUE) {
      bytes[at] = red;
      bytes[at + 1] = green;
      bytes[at + 2] = blue;
      bytes[at + 3] = opacity;
      return;
    }
    const over = under + opacity - (under * opacity) / OPAQUE;
    const part = opacity / over;
    bytes[at] = (bytes[at] ?? 0) * (1 - part) + red * part;
    bytes[at + 1] = (bytes[at + 1] ?? 0) * (1 - part) + green * part;
    bytes[at + 2] = (bytes[at + 2] ?? 0) * (1 - part) + blue * part;
    bytes[at + 3] = over;
  }
}

import { type Shape } from './shapes.js';

/** Samples of a pixel's side: an edge is smooth. */
const SAMPLES = 4;

/** A small picture in one colour. */
export interface Sprite {
  /** Pixels of each side. */
  readonly size: number;
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  /** Three numbers for each pixel that the picture covers: column, row, and opacity up to 255. */
  readonly pixels: Uint8Array;
}

/**
 * Draws a shape. It does not read a canvas: some browsers return noise.
 * @param colour as `#2368e8`
 * @param scale pixels per unit of the shape
 */
export function drawSprite(shape: Shape, colour: string, extent: number, scale: number): Sprite {
  const size = Math.ceil(extent * scale);
  const pixels: number[] = [];
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const opacity = Math.round(255 * coverage(shape, column - size / 2, row - size / 2, scale));
      if (opacity > 0) pixels.push(column, row, opacity);
    }
  }
  const channel = (at: number): number => parseInt(colour.trim().slice(at, at + 2), 16);
  return { size, red: channel(1), green: channel(3), blue: channel(5), pixels: Uint8Array.from(pixels) };
}

/** The part of a pixel that a shape covers, 0 to 1. */
function coverage(shape: Shape, left: number, top: number, scale: number): number {
  let inside = 0;
  for (let sample = 0; sample < SAMPLES ** 2; sample += 1) {
    const x = left + ((sample % SAMPLES) + 0.5) / SAMPLES;
    const y = top + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES;
    if (shape(x / scale, y / scale) <= 0) inside += 1;
  }
  return inside / SAMPLES ** 2;
}

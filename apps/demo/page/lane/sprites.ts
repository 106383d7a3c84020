import { type MarkKind } from '../../src/console/messages.js';
import { KIND_LOOKS } from './kinds.js';

const SIZE = 12;
type Drawn = MarkKind | 'waiting';

/** A picture of each kind of mark, drawn once, so that thousands cost little. */
export type Sprites = Readonly<Record<Drawn, HTMLCanvasElement>>;

/** Draws the marks in the colours of the element. */
export function drawSprites(element: Element, scale: number): Sprites {
  const style = getComputedStyle(element);
  const draw = (name: Drawn): HTMLCanvasElement => {
    const { colour, shape } = name === 'waiting' ? { colour: '--waiting', shape: 'disc' as const } : KIND_LOOKS[name];
    return sprite(style.getPropertyValue(colour), shape, scale, name === 'waiting' ? 2.2 : 3);
  };
  const names: readonly Drawn[] = ['cached', 'joined', 'asked', 'denied', 'turnedBack', 'unavailable', 'open', 'waiting'];
  return Object.fromEntries(names.map((name) => [name, draw(name)])) as Record<Drawn, HTMLCanvasElement>;
}

/** Draws a mark with its middle at a point. */
export function drawMark(context: CanvasRenderingContext2D, sprite: HTMLCanvasElement, x: number, y: number, weight: number): void {
  const size = weight === 1 ? SIZE : SIZE * 1.8;
  context.drawImage(sprite, x - size / 2, y - size / 2, size, size);
}

function sprite(colour: string, shape: (typeof KIND_LOOKS)[MarkKind]['shape'], scale: number, radius: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIZE * scale;
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  context.scale(scale, scale);
  context.translate(SIZE / 2, SIZE / 2);
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  SHAPES[shape](context, radius);
  if (shape === 'ring' || shape === 'hollow') context.stroke();
  else context.fill();
  return canvas;
}

const SHAPES = {
  disc: (context: CanvasRenderingContext2D, radius: number) => context.arc(0, 0, radius, 0, 2 * Math.PI),
  ring: (context: CanvasRenderingContext2D, radius: number) => context.arc(0, 0, radius - 0.6, 0, 2 * Math.PI),
  diamond: (context: CanvasRenderingContext2D, radius: number) => polygon(context, 4, radius + 2, 0),
  square: (context: CanvasRenderingContext2D, radius: number) => polygon(context, 4, radius + 1, Math.PI / 4),
  triangle: (context: CanvasRenderingContext2D, radius: number) => polygon(context, 3, radius + 1.2, -Math.PI / 2),
  hollow: (context: CanvasRenderingContext2D, radius: number) => polygon(context, 3, radius + 0.8, -Math.PI / 2),
};

function polygon(context: CanvasRenderingContext2D, corners: number, radius: number, angle: number): void {
  for (let corner = 0; corner < corners; corner += 1) {
    const turn = angle + (corner * 2 * Math.PI) / corners;
    context.lineTo(Math.cos(turn) * radius, Math.sin(turn) * radius);
  }
  context.closePath();
}

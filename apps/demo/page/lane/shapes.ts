/** How far a point is outside of a shape around the origin; negative inside. */
export type Shape = (x: number, y: number) => number;

const LINE = 0.75;

/** The shapes of marks, by radius. Colour alone must not distinguish the kinds. */
export const SHAPES = {
  disc: (radius: number): Shape => disc(radius),
  ring: (radius: number): Shape => outline(disc(radius - 0.6)),
  diamond: (radius: number): Shape => polygon(4, radius + 2, 0),
  square: (radius: number): Shape => polygon(4, radius + 1, Math.PI / 4),
  triangle: (radius: number): Shape => polygon(3, radius + 1.2, -Math.PI / 2),
  hollow: (radius: number): Shape => outline(polygon(3, radius + 0.8, -Math.PI / 2)),
} as const;

function disc(radius: number): Shape {
  return (x, y) => Math.hypot(x, y) - radius;
}

/** A regular polygon, with a corner at an angle. */
function polygon(corners: number, radius: number, angle: number): Shape {
  const sides = Array.from({ length: corners }, (_, side) => angle + ((side + 0.5) * 2 * Math.PI) / corners);
  const inner = radius * Math.cos(Math.PI / corners);
  return (x, y) => Math.max(...sides.map((side) => x * Math.cos(side) + y * Math.sin(side))) - inner;
}

function outline(shape: Shape): Shape {
  return (x, y) => Math.abs(shape(x, y)) - LINE;
}

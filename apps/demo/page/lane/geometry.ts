/** A point of the picture, in CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where the stations of the picture are, for its width. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  readonly isWide: boolean;
  /** Whether the guard has room for descriptions. */
  readonly isRoomy: boolean;
  readonly users: Point;
  readonly guard: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  };
  readonly cache: Point;
  /** Where requests wait for a call, the distance of its lanes, and the place that a waiting crowd has. */
  readonly wait: number;
  readonly breaker: number;
  readonly lanes: Readonly<Record<'known' | 'strangers', number>>;
  readonly crowd: number;
  readonly service: Point;
  readonly routes: { readonly left: number; readonly right: number; readonly y: number };
}

const WIDE = 640;
const ROOMY = 600;

/** Lays out the picture. */
export function layOut(width: number): Geometry {
  const isWide = width >= WIDE;
  const height = isWide ? 372 : 316;
  const at = (wide: number, narrow: number): number => Math.round(width * (isWide ? wide : narrow));
  const guard = {
    left: at(0.17, 0.2),
    right: at(0.76, 0.8),
    top: isWide ? 20 : 26,
    bottom: height - (isWide ? 86 : 84),
  };
  const inside = guard.bottom - guard.top;
  const lanes = {
    known: Math.round(guard.top + inside * 0.4),
    strangers: Math.round(guard.top + inside * (isWide ? 0.79 : 0.78)),
  };
  const middle = Math.round((lanes.known + lanes.strangers) / 2);
  return {
    width,
    height,
    isWide,
    isRoomy: guard.right - guard.left > ROOMY,
    users: { x: at(0.07, 0.085), y: middle },
    guard,
    cache: { x: at(0.25, 0.305), y: middle },
    wait: at(0.48, 0.52),
    breaker: at(0.675, 0.7),
    lanes,
    crowd: isWide ? 84 : 44,
    service: { x: at(0.915, 0.915), y: middle },
    routes: { left: guard.left, right: guard.right, y: height - 38 },
  };
}

/** A measure that misses its limit by less than this share is a warning, so that a few bytes hold up no change. */
const TOLERANCE = 0.02;

/** How far a measure is beyond its limit: `'within'`, `'slightly'` (a warning), or `'far'` (a failure). */
export function exceeds(excess, limit) {
  if (!(excess > 0)) return 'within';
  return excess < limit * TOLERANCE ? 'slightly' : 'far';
}

/**
 * Returns whether parsed JSON is nested deeper than `maxDepth` objects and arrays. Does not recurse: 16 kB of
 * brackets would overflow the stack of a recursive reader.
 */
export function isDeeperThan(maxDepth: number, json: unknown): boolean {
  let level = [json].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

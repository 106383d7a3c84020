import { useRef } from 'preact/hooks';

/**
 * Returns a value, updated at most once in `ms` milliseconds, so that a screen reader does not read figures
 * without end.
 */
export function useEvery<T>(ms: number, value: T): T {
  const held = useRef<{ readonly value: T; readonly since: number } | undefined>(undefined);
  const now = performance.now();
  if (!held.current || now - held.current.since >= ms) held.current = { value, since: now };
  return held.current.value;
}

import { useRef } from 'preact/hooks';

/** Holds a value that changes often for a while, so that nobody is read figures without end. */
export function useEvery<T>(ms: number, value: T): T {
  const held = useRef<{ readonly value: T; readonly since: number } | undefined>(undefined);
  const now = performance.now();
  if (!held.current || now - held.current.since >= ms) held.current = { value, since: now };
  return held.current.value;
}

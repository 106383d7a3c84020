/** How the development service fails: a status, or no answer. */
export type DevFault = number | 'reset' | 'silence';

/** Delay and failure of the development service, set by its control endpoints. */
export interface DevFaults {
  /** Milliseconds before each answer. */
  delayMs: number;
  fault: DevFault | undefined;
}

const MAX_DELAY_MS = 600_000;

/** Returns a delay from a request to the control endpoint; `undefined` if it is invalid. */
export function delayFrom({ ms }: Readonly<Record<string, unknown>>): number | undefined {
  return typeof ms === 'number' && ms >= 0 && ms <= MAX_DELAY_MS ? ms : undefined;
}

/** Returns whether a value is a fault. */
export function isFault(value: unknown): value is DevFault {
  return value === 'reset' || value === 'silence' || (Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599);
}

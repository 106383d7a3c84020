/** Faults of the embedded session service. */
export const FAULTS = ['none', 'slow', 'broken', 'garbage', 'stopped'] as const;
export type Fault = (typeof FAULTS)[number];

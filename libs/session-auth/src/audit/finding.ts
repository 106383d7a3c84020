import type { Handler } from '../guard/handlers.js';

export interface Finding {
  readonly text: string;
  /** Whether a rule is certain to have no effect: the application does not start. All else may be intended. */
  readonly stops: boolean;
}

/** Makes a finding; `tools/check-messages.mjs` reads the texts of its calls. */
export function finding(text: string, stops = false): Finding {
  return { text, stops };
}

export function placeOf({ owner, name }: Pick<Handler, 'owner' | 'name'>): string {
  return `${owner.name}.${name}`;
}

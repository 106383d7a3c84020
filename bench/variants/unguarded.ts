import type { VariantParts } from './variant.js';

/** No guard at all. */
export function variant(): VariantParts {
  return {};
}

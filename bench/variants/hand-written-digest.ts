import { HandWrittenGuard } from './hand-written.js';
import { digestedKey } from './user-cache.js';
import { usersOfService } from './users-of-service.js';
import type { VariantParts, VariantSetup } from './variant.js';

/** Written by hand, with a cache that keeps no token: its keys are digests by `createHash`. */
export function variant(setup: VariantSetup): VariantParts {
  return { ...usersOfService(setup, digestedKey), guard: HandWrittenGuard };
}

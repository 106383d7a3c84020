import type { VariantParts, VariantSetup } from './variant.js';

interface VariantModule {
  variant(setup: VariantSetup): VariantParts;
}

/** Each variant, loaded only by the process that runs it. */
export const VARIANTS = {
  unguarded: () => import('./unguarded.js'),
  leastGuard: () => import('./least-guard.js'),
  leastRefusal: () => import('./least-refusal.js'),
  throwingRefusal: () => import('./throwing-refusal.js'),
  ours: () => import('./ours.js'),
  handWritten: () => import('./hand-written.js'),
  handWrittenDigest: () => import('./hand-written-digest.js'),
  handWrittenLru: () => import('./hand-written-lru.js'),
  opossum: () => import('./opossum.js'),
  passport: () => import('./passport.js'),
  keycloak: () => import('./keycloak.js'),
  undiciDispatch: () => import('./undici-dispatch.js'),
} satisfies Record<string, () => Promise<VariantModule>>;

export type VariantName = keyof typeof VARIANTS;

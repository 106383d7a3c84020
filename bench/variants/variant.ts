import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';

/** How a variant caches sessions. */
export interface CacheSetup {
  readonly ttlMs: number;
  readonly negativeTtlMs?: number;
  readonly refreshAheadMs?: number;
  readonly maxEntries?: number;
}

/** Features that an application can enable besides the guard. */
export type Switch = 'decisions' | 'policy' | 'cookie';

/** Options of a variant. */
export interface VariantSetup {
  /** Root of the session service. */
  readonly serviceUrl: string;
  /** Absent: every request asks the service. */
  readonly cache?: CacheSetup;
  /** Total time of a check. Only for the library itself; absent: its default. */
  readonly timeoutMs?: number;
  /** Absent: nothing but the guard. Only for the library itself. */
  readonly switchedOn?: Switch;
  /** Whether the route takes fresh checks only. Only for the library itself. */
  readonly isFresh?: boolean;
  /** Public key of the realm whose tokens the Keycloak variant reads. */
  readonly realmPublicKey?: string;
}

/** The additions of a variant to the sample application: nothing, or a guard with its dependencies. */
export interface VariantParts extends Pick<ModuleMetadata, 'imports' | 'providers'> {
  readonly guard?: Type<CanActivate>;
  /** Applied to the guarded controller. */
  readonly rule?: ClassDecorator;
}

/** A cache whose entries outlast a benchmark. */
export const LONG_CACHE: CacheSetup = { ttlMs: 300_000, negativeTtlMs: 300_000, maxEntries: 10_000 };

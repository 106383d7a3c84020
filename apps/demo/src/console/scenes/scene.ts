import { type CacheChoice } from '../../backend/cache-choice.js';
import { type SceneResult } from '../messages.js';
import { type Stage } from './stage.js';

/** An experiment on the running demo, in three steps. */
export interface Scene {
  /** The session cache of the backend while it runs. */
  readonly cache: CacheChoice;
  /** Runs the scene. Resolves to its measurements. The stage restores everything, also after a failure. */
  run(stage: Stage): Promise<SceneResult['measured']>;
}

/** A cache without options. */
export function cacheFor(ttlSeconds: CacheChoice['ttlSeconds']): CacheChoice {
  return { ttlSeconds, refreshAhead: false, staleIfError: false };
}

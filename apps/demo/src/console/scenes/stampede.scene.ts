import { NO_CACHE } from '../../backend/cache-choice.js';
import { STAMPEDE_REQUESTS } from '../messages.js';
import { type Scene } from './scene.js';

/** Many requests present one session at once; without a cache, one call answers all that join it. */
export const STAMPEDE: Scene = {
  cache: NO_CACHE,
  async run(stage) {
    await stage.step(0);
    const [token = ''] = await stage.signIn();
    await stage.warm(STAMPEDE_REQUESTS);
    await stage.step(1);
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: STAMPEDE_REQUESTS }, () => stage.send({ path: '/api/me', token })),
    );
    const tookMs = performance.now() - startedAt;
    await stage.step(2);
    return { tookMs: Math.round(tookMs) };
  },
};

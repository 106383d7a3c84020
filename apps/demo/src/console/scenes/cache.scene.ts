import { cacheFor, type Scene } from './scene.js';

const TTL_SECONDS = 5;
const PER_SECOND = 40;

/** A session ends at the session service, without notice: it works on until its cache entry expires. */
export const CACHE: Scene = {
  cache: cacheFor(TTL_SECONDS),
  async run(stage) {
    const [token = ''] = await stage.signIn();
    const stop = stage.traffic(PER_SECOND, () => token);
    await stage.step(0, 1_200);
    await stage.step(1);
    await stage.endElsewhere(token);
    const endedAt = performance.now();
    await stage.until('the session still works', () => stage.requests.denied > 0);
    await stage.step(2, 700);
    const admitted = (await stop()).filter(({ status }) => status === 200);
    const last = admitted.at(-1)?.sentAt ?? endedAt;
    return {
      workedOnMs: Math.round(Math.max(0, last - endedAt)),
      admitted: admitted.length,
      ttlMs: TTL_SECONDS * 1_000,
    };
  },
};

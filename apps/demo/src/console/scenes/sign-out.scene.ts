import { cacheFor, type Scene } from './scene.js';

const PER_SECOND = 40;

/**
 * A user signs out on one device: the cached session ends for the other device too, with its next request.
 */
export const SIGN_OUT: Scene = {
  cache: cacheFor(300),
  async run(stage) {
    const [token = ''] = await stage.signIn();
    const stop = stage.traffic(PER_SECOND, () => token);
    await stage.step(0, 1_200);
    await stage.step(1);
    await stage.send({ method: 'DELETE', path: '/api/session', token });
    const signedOutAt = performance.now();
    await stage.step(2, 1_200);
    const later = (await stop()).filter(({ sentAt }) => sentAt > signedOutAt);
    return { later: later.length, admitted: later.filter(({ status }) => status < 400).length };
  },
};

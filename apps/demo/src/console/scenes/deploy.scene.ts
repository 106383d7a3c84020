import { cacheFor, type Scene } from './scene.js';

const SESSIONS = 6;
const PER_SECOND = 80;

/** A new instance of the backend takes over under traffic; the old one completes its requests. */
export const DEPLOY: Scene = {
  cache: cacheFor(300),
  async run(stage) {
    const tokens = await stage.signIn(SESSIONS);
    const stop = stage.traffic(PER_SECOND, (turn) => tokens[turn % SESSIONS] ?? '');
    await stage.step(0, 1_200);
    await stage.step(1);
    await stage.deploy();
    const tookOverAt = performance.now();
    await stage.step(2, 1_300);
    const replies = await stop();
    const asked = replies.filter(({ kind, sentAt }) => kind === 'asked' && sentAt > tookOverAt).length;
    return { sessions: SESSIONS, asked, refused: replies.filter(({ status }) => status !== 200).length };
  },
};

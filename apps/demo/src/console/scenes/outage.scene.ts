import { NO_CACHE } from '../../backend/cache-choice.js';
import { medianMs } from './median.js';
import { type Scene } from './scene.js';

const SESSIONS = 12;
/** Failures of one user open no breaker. */
const USERS = 3;
const PER_SECOND = 40;

/**
 * The session service fails under traffic: the breaker opens, denies at once, and closes when a probe
 * succeeds.
 */
export const OUTAGE: Scene = {
  cache: NO_CACHE,
  async run(stage) {
    const tokens = await stage.signIn(SESSIONS, USERS);
    const stop = stage.traffic(PER_SECOND, (turn) => tokens[turn % SESSIONS] ?? '');
    await stage.step(0, 800);
    await stage.fault('broken');
    await stage.step(1);
    await stage.until('the breaker has not opened', () => stage.breaker === 'open');
    await stage.pass(800);
    await stage.fault('none');
    await stage.step(2);
    await stage.until('the breaker has not closed', () => stage.breaker === 'closed');
    await stage.pass(800);
    const turnedBack = (await stop()).filter(({ kind }) => kind === 'turnedBack');
    return { medianMs: medianMs(turnedBack) };
  },
};

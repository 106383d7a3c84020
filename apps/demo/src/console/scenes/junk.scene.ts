import { randomBytes } from 'node:crypto';
import { NO_CACHE } from '../../backend/cache-choice.js';
import { every } from '../load/every.js';
import { medianMs } from './median.js';
import { type Scene } from './scene.js';

const SESSIONS = 3;
const PER_SECOND = 30;
const BURSTS_PER_SECOND = 3;
const JUNK_OF_A_BURST = 40;

/** A flood of invented tokens: it has a lane of its own, and signed-in users do not wait behind it. */
export const JUNK: Scene = {
  cache: NO_CACHE,
  async run(stage) {
    const tokens = await stage.signIn(SESSIONS);
    const traffic = () => stage.traffic(PER_SECOND, (turn) => tokens[turn % SESSIONS] ?? '');
    const stopBefore = traffic();
    await stage.step(0, 1_300);
    const before = await stopBefore();
    const stopDuring = traffic();
    const junk: Promise<unknown>[] = [];
    const invent = () => stage.send({ path: '/api/me', token: randomBytes(24).toString('base64url') });
    const stopJunk = stage.stopWithScene(
      every(BURSTS_PER_SECOND, () => junk.push(...Array.from({ length: JUNK_OF_A_BURST }, invent))),
    );
    await stage.step(1, 2_200);
    stopJunk();
    await stage.step(2);
    await Promise.all(junk);
    const during = await stopDuring();
    const admitted = during.filter(({ status }) => status === 200).length;
    return {
      junk: junk.length,
      known: during.length,
      admitted,
      beforeMs: medianMs(before),
      duringMs: medianMs(during),
    };
  },
};

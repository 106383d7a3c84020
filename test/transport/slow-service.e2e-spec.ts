import { describe, expect } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { afterDelay, bytesThenSilence, json, silence, type Script } from '../support/scripted-service.js';
import { SILENCE_MS } from '../support/total-time.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const HEAD_LINES = ['HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 100', '', ''];

describe.each(platforms('Express'))('slowness on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'no reply, one without a body, and one with an unfinished body become 503 at the deadline [D03] [E01]',
    async (trial) => {
      const unfinished = [...HEAD_LINES.slice(0, -1), '{"username":'];
      for (const script of [silence, bytesThenSilence(...HEAD_LINES), bytesThenSilence(...unfinished)]) {
        trial.service.on('user_details', script);
        expect(await trial.status()).toBe(503);
      }
      expect(trial.calls()).toBe(3);
    },
    { options: { timeoutMs: SILENCE_MS, breaker: false } },
  );

  row(
    'an answer just before the deadline lets the caller in, after one call [E02]',
    async (trial) => {
      trial.service.on('user_details', afterDelay(trial.timeoutMs - 9_000, json(ANN)));
      expect([await trial.status(), trial.calls()]).toEqual([200, 1]);
    },
    { options: { timeoutMs: 10_000 } },
  );

  row(
    '200 callers of a service that hangs all get 503, never more than maxInFlight calls are open, and no connection stays [E03]',
    async (trial) => {
      const open = { now: 0, most: 0 };
      const hang: Script = (_request, _response, socket) => {
        open.now += 1;
        open.most = Math.max(open.most, open.now);
        socket.on('close', () => (open.now -= 1));
      };
      trial.service.on('user_details', hang);

      expect(await trial.flood(200, (index) => ({ token: `${TOKEN}-${index}` }))).toEqual({ 503: 200 });
      expect(open.most).toBeGreaterThan(0);
      expect(open.most).toBeLessThanOrEqual(8);
      await trial.service.idle();
    },
    { options: { timeoutMs: SILENCE_MS, maxInFlight: 8, breaker: false } },
  );
});

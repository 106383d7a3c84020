import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionAuthHttpOptions } from 'nestjs-session-auth';
import { platforms, startApp, type Platform, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import {
  afterDelay,
  bytesThenSilence,
  json,
  silence,
  startScriptedService,
  type Script,
  type ScriptedService,
} from '../support/scripted-service.js';
import { measureStalls } from '../support/stalls.js';
import { TRANSPORTS } from '../support/transports.js';
import { SILENCE_MS } from '../support/total-time.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

/** The allowed delay of a reply beyond the total time, without the stalls of the process. */
const ALLOWED_MS = 250;
const ANN_JSON = '{"username":"ann"}';
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${ANN_JSON.length}\r\n\r\n`;

/** Writes one byte after another and never gets to the end. */
const drip =
  (text: string): Script =>
  (_request, _response, socket) => {
    let sent = 0;
    const timer = setInterval(() => socket.write(text[sent++ % text.length] ?? ' '), 20);
    socket.on('close', () => clearInterval(timer));
  };

const SLOW: [string, Script][] = [
  ['never answers', silence],
  ['sends half the body', bytesThenSilence(`${HEAD}${ANN_JSON.slice(0, 9)}`)],
  [
    'drips headers',
    (...call) => {
      bytesThenSilence('HTTP/1.1 200 OK', '')(...call);
      drip('X-Filler: x\r\n')(...call);
    },
  ],
];

interface Outcome {
  readonly status: number;
  /** Without the stalls of the process. */
  readonly tookMs: number;
  /** How many requests reached the service. */
  readonly requests: number;
}

/** An application and its slow service. */
class SlowTrial {
  outcome: Promise<Outcome> | undefined;

  private constructor(
    readonly service: ScriptedService,
    private readonly app: RunningApp,
  ) {}

  static async start(platform: Platform, script: Script, http: SessionAuthHttpOptions): Promise<SlowTrial> {
    const service = await startScriptedService();
    service.on('user_details', script);
    return new SlowTrial(
      service,
      await startApp(platform, sampleApp({ baseUrl: service.url, options: { timeoutMs: SILENCE_MS, http } })),
    );
  }

  /** Sends the request whose reply is the {@link outcome}. */
  ask(): void {
    this.outcome = this.#ask();
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.service.close();
  }

  async #ask(): Promise<Outcome> {
    const [start, stalledMs] = [performance.now(), measureStalls()];
    const { status } = await this.app.get('/me', 'token');
    return {
      status,
      tookMs: performance.now() - start - stalledMs(),
      requests: this.service.requests.length,
    };
  }
}

describe.each(platforms('Express'))('a slow session service on %s', (_name, platform) => {
  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    let trials: ReadonlyMap<string, SlowTrial>;

    // All of them are waited for at the same time.
    beforeAll(async () => {
      trials = new Map(
        await Promise.all(
          SLOW.map(
            async ([name, script]) => [name, await SlowTrial.start(platform, script, http())] as const,
          ),
        ),
      );
      for (const trial of trials.values()) trial.ask();
    });
    afterAll(async () => {
      for (const trial of trials.values()) await trial.close();
    });

    it.each(SLOW.map(([name]) => [name] as const))(
      'that %s makes the reply 503 when the total time is over, and its connection is closed',
      async (name: string) => {
        const trial = trials.get(name);
        const outcome = await trial?.outcome;

        expect(outcome).toMatchObject({ status: 503, requests: 1 });
        expect(outcome?.tookMs).toBeLessThan(SILENCE_MS + ALLOWED_MS);
        await trial?.service.idle();
      },
    );
  });
});

const HEAD_LINES = ['HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 100', '', ''];

describe.each(platforms('Express'))('slowness on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a reply without a body, or with an unfinished one, becomes 503 at the deadline [E01]',
    async (trial) => {
      for (const script of [
        bytesThenSilence(...HEAD_LINES),
        bytesThenSilence(...HEAD_LINES.slice(0, -1), '{"username":'),
      ]) {
        trial.service.on('user_details', script);
        expect(await trial.status()).toBe(503);
      }
      expect(trial.calls()).toBe(2);
    },
    { options: { timeoutMs: SILENCE_MS } },
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

import { describe, expect, it } from '@jest/globals';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import type { RawScript } from '../support/raw-service.js';
import { sampleApp } from '../support/sample-app.js';
import { json, startScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const ANN = '{"username":"ann"}';
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${ANN.length}\r\n\r\n`;

/** Writes one byte after another and never gets to the end. */
const drip =
  (text: string): RawScript =>
  (socket) => {
    let sent = 0;
    const timer = setInterval(() => socket.write(text[sent++ % text.length] ?? ' '), 20);
    socket.on('close', () => clearInterval(timer));
  };

const SLOW: [string, RawScript][] = [
  ['never answers', () => undefined],
  ['sends half a status line', (socket) => void socket.write('HTTP/1.1 2')],
  ['sends the headers and never the body', (socket) => void socket.write(HEAD)],
  ['sends half the body', (socket) => void socket.write(`${HEAD}${ANN.slice(0, 9)}`)],
  ['sends nothing but early hints', (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  [
    'drips headers',
    (socket, head) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip('X-Filler: x\r\n')(socket, head);
    },
  ],
  [
    'drips the body',
    (socket, head) => {
      socket.write(HEAD.replace(`${ANN.length}`, '1000'));
      drip(' ')(socket, head);
    },
  ],
];

async function timed(app: RunningApp): Promise<{ status: number; tookMs: number }> {
  const start = performance.now();
  const { status } = await app.get('/me', 'token');
  return { status, tookMs: performance.now() - start };
}

describe.each(PLATFORMS)('a slow session service on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    it.each(SLOW)('that %s makes the reply 503 when the total time is over, and its connection is closed', async (_case, script) => {
      const service = await bed.rawService(script);
      const app = await bed.sample({ baseUrl: service.url, options: { timeoutMs: 400, http: http() } });
      const { status, tookMs } = await timed(app);

      expect(status).toBe(503);
      expect(tookMs).toBeLessThan(2_400);
      expect(service.requests()).toBe(1);
      await service.idle();
    });

    it('that hangs makes the reply 503 for two hundred callers, and leaves no connection open', async () => {
      const service = await bed.rawService(() => undefined);
      const app = await bed.sample({ baseUrl: service.url, options: { timeoutMs: 600, maxInFlight: 8, http: http() } });
      const replies = await Promise.all(Array.from({ length: 200 }, (_, index) => app.get('/me', `token-${index}`)));

      expect(replies.map(({ status }) => status)).toEqual(Array(200).fill(503));
      await service.idle();
    });
  });

  it('that still answers in time is asked once', async () => {
    const service = await bed.service();
    service.on('user_details', (...call) => void setTimeout(() => json({ username: 'ann' })(...call), 150));
    const app = await bed.sample({ baseUrl: service.url, options: { timeoutMs: 5_000 } });

    expect((await app.get('/me', 'token')).status).toBe(200);
    expect(service.callsTo('user_details')).toBe(1);
  });
});

describe.each(PLATFORMS)('a session service that cannot be reached on %s', (_name, platform) => {
  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    async function replyFrom(baseUrl: string): Promise<Response> {
      const app = await startApp(platform, sampleApp({ baseUrl, options: { timeoutMs: 1_000, http: http() } }));
      try {
        return await app.get('/me', 'token');
      } finally {
        await app.close();
      }
    }

    it('because nobody listens makes the reply 503', async () => {
      const gone = await startScriptedService();
      await gone.close();

      expect((await replyFrom(gone.url)).status).toBe(503);
    });

    it('because its name does not resolve makes the reply 503', async () => {
      expect((await replyFrom('http://sessions.invalid')).status).toBe(503);
    });

    it('because it does not speak TLS makes the reply 503', async () => {
      const plain = await startScriptedService();
      try {
        expect((await replyFrom(plain.url.replace('http:', 'https:'))).status).toBe(503);
      } finally {
        await plain.close();
      }
    });
  });
});

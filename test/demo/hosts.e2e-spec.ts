import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { platforms } from '../support/platforms.js';

const ALLOWED = '.app.github.dev, Demo.Example.com';

/** Writes the head of a request as it is, and reads the reply as it comes. */
async function exchange(
  url: string,
  ...head: string[]
): Promise<{ readonly status: number; readonly reply: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write([...head, 'Connection: close', '', ''].join('\r\n'));
  const reply = await text(socket);
  return { status: Number(reply.split(' ')[1]), reply };
}

describe.each(platforms('Express'))('the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: { DEMO_ALLOWED_HOSTS: ALLOWED }, newAdapter });
  });
  afterAll(() => demo.close());

  const statusOf = async (...head: string[]): Promise<number> => (await exchange(demo.url, ...head)).status;
  const under = (host: string): Promise<number> => statusOf('GET /api/health HTTP/1.1', `Host: ${host}`);

  it.each([
    'localhost',
    'localhost:3000',
    'LOCALHOST:3000',
    'localhost.',
    'localhost.:3000',
    'localhost:',
    'demo.localhost:3000',
    '127.0.0.1:3000',
    '192.168.1.7',
    '[::1]',
    '[::1]:3000',
    '[2001:DB8::7]:3000',
    '[::ffff:127.0.0.1]:80',
    'demo.example.com',
    'DEMO.example.COM.:8443',
    'name-3000.app.github.dev',
  ])('answers to the host %s', async (host) => {
    expect(await under(host)).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    'evil-localhost',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io',
    'demo.example.com.evil.example',
    'www.demo.example.com',
    'app.github.dev',
    'evilapp.github.dev',
    '127.1',
    '2130706433',
    '0x7f000001',
    '127.0.0.256',
  ])('answers 421 to the host %s', async (host) => {
    expect(await under(host)).toBe(421);
  });

  it.each([
    '',
    ' ',
    'user@localhost',
    'localhost@evil.example',
    'localhost/',
    'localhost?evil.example',
    'localhost#evil.example',
    'localhost, evil.example',
    'localhost evil.example',
    'localhost:3000:3000',
    'localhost:port',
    'localhost..',
    '.localhost',
    'http://localhost',
    '::1',
    '[::1',
    '[::1]evil.example',
    '[localhost]',
    '[::1%25lo]',
    'l\u00f6calhost',
    `${'a'.repeat(5_000)}!`,
  ])('answers 400 to a host that is none: %j', async (host) => {
    expect(await under(host)).toBe(400);
  });

  it('answers 400 to a request without a host, or with several', async () => {
    expect(await statusOf('GET / HTTP/1.1')).toBe(400);
    expect(await statusOf('GET / HTTP/1.0')).toBe(400);
    expect(await statusOf('GET / HTTP/1.0', 'Host: localhost')).toBe(200);
    expect(await statusOf('GET / HTTP/1.1', 'Host: localhost', 'Host: localhost')).toBe(400);
    expect(await statusOf('GET / HTTP/1.1', 'Host: localhost', 'Host: evil.example')).toBe(400);
    expect(await statusOf('GET / HTTP/1.1', 'Host: evil.example', 'hOST: localhost')).toBe(400);
  });

  it('reads the host of an absolute target too, and routes by its path', async () => {
    const absolute = (target: string, host = 'localhost'): Promise<number> =>
      statusOf(`GET ${target} HTTP/1.1`, `Host: ${host}`);
    expect(await absolute('http://localhost:3000/api/health')).toBe(200);
    expect(await absolute('HTTPS://[::1]/console/info?x=1')).toBe(200);
    expect(await absolute('http://localhost')).toBe(200);
    expect(await absolute('http://localhost?x')).toBe(200);
    expect(await absolute('http://evil.example/api/health')).toBe(421);
    expect(await absolute('http://localhost/api/health', 'evil.example')).toBe(421);
    expect(await absolute('http://localhost@evil.example/api/health')).toBe(400);
    expect(await absolute('http:///api/health')).toBe(400);
    expect(await absolute('//evil.example/api/health')).toBe(404);
    expect(await absolute('*')).toBe(404);
  });

  it('reads no other header in place of the host', async () => {
    for (const header of [
      'X-Forwarded-Host: localhost',
      'Forwarded: host=localhost',
      'X-Host: localhost',
      ':authority: localhost',
    ]) {
      expect([400, 421]).toContain(await statusOf('GET /api/health HTTP/1.1', 'Host: evil.example', header));
    }
  });

  it.each([
    'GET /',
    'GET /page.js',
    'GET /console/info',
    'GET /console/live',
    'POST /console/end-sessions',
    'PUT /console/fault',
    'GET /api/me',
    'GET /docs',
    'GET /metrics',
    'OPTIONS *',
    'HEAD /',
  ])(
    'answers 421 to %s under the name of another site, though the browser calls it same-origin',
    async (line) => {
      const headers = [
        'Host: evil.example:3000',
        'Origin: http://evil.example:3000',
        'Sec-Fetch-Site: same-origin',
      ];
      expect(await statusOf(`${line} HTTP/1.1`, ...headers)).toBe(421);
    },
  );

  it('names the variable to set, in plain text', async () => {
    const { reply } = await exchange(demo.url, 'GET / HTTP/1.1', 'Host: My-Codespace.example:3000');
    expect(reply).toMatch(
      /\r\nContent-Type: text\/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n/,
    );
    expect(reply).toContain('The demo does not answer to the name "my-codespace.example".');
    expect(reply).toContain('DEMO_ALLOWED_HOSTS=my-codespace.example');
  });
});

describe('the hosts of the demo', () => {
  it('include the one that it listens on', async () => {
    const demo = await startDemo({ env: { PORT: '0', HOST: 'LocalHost' } });
    try {
      expect((await exchange(demo.url, 'GET / HTTP/1.1', 'Host: localhost')).status).toBe(200);
      expect((await exchange(demo.url, 'GET / HTTP/1.1', 'Host: other.example')).status).toBe(421);
    } finally {
      await demo.close();
    }
  });

  it.each([
    '*',
    'http://demo.example.com',
    'demo.example.com:3000',
    '..',
    '.',
    'a b',
    '*.example.com',
    'evil.example/',
  ])('are refused at startup as DEMO_ALLOWED_HOSTS "%s", with the remedy', async (list) => {
    await expect(
      startDemo({ port: 0, env: { DEMO_ALLOWED_HOSTS: `demo.example.com, ${list}` } }),
    ).rejects.toThrow('DEMO_ALLOWED_HOSTS must be host names without scheme and port');
  });
});

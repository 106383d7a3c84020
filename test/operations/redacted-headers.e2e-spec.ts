import { describe, expect, it } from '@jest/globals';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fromBearer, fromCookie, fromHeader, fromPayload, type TokenSource } from 'nestjs-session-auth';
import { redactedHeaders } from 'nestjs-session-auth/diagnostics';
import type { IncomingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';

const SECRET = 'S3cr3t-Value';

/** What pino, in Fastify, logs of the headers of a request and its response. */
async function logged(redact: string[], token: TokenSource, headers: Record<string, string>): Promise<string> {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const serializers = { req: (request: { readonly headers: IncomingHttpHeaders }) => ({ headers: request.headers }) };
  const platform = () => new FastifyAdapter({ logger: { level: 'info', stream, serializers, redact } });
  const app = await startApp(platform, sampleApp({ baseUrl: 'http://127.0.0.1:9', options: { token, retry: false } }));
  await app.get('/me', undefined, { ...headers, 'x-request-id': 'visible' });
  await app.close();
  return lines.join('');
}

const everyHeader = {
  'X-AUTH-TOKEN': SECRET,
  'X-AUTH-IV': SECRET,
  'X-API-KEY': SECRET,
  Authorization: `Bearer ${SECRET}`,
  Cookie: `session=${SECRET}`,
};

describe('redactedHeaders()', () => {
  it('removes every header that carries a key, a token or an IV from what pino logs, and no other', async () => {
    expect(await logged([], fromHeader('x-auth-token'), everyHeader)).toContain(SECRET);

    const text = await logged(redactedHeaders(), fromHeader('x-auth-token'), everyHeader);
    expect(text).not.toContain(SECRET);
    expect(text).toContain('"x-request-id":"visible"');
  });

  it.each<[string, string | TokenSource]>([
    ['a name', 'X-Partner-Token'],
    ['a token source', fromHeader('X-Partner-Token')],
  ])('removes another header, given as %s', async (_form, header) => {
    const headers = { 'X-Partner-Token': SECRET };
    expect(await logged(redactedHeaders(), fromHeader('X-Partner-Token'), headers)).toContain(SECRET);
    expect(await logged(redactedHeaders(header), fromHeader('X-Partner-Token'), headers)).not.toContain(SECRET);
  });

  it('names each header once, in requests and responses; a source without a header adds none', () => {
    const paths = redactedHeaders(fromBearer(), fromCookie('session'), fromPayload('token'), () => 'token', 'X-Own');
    const names = ['x-auth-token', 'x-auth-iv', 'x-api-key', 'authorization', 'cookie', 'set-cookie', 'x-own'];
    expect(paths).toEqual(['req', 'res'].flatMap((message) => names.map((name) => `${message}.headers["${name}"]`)));
  });
});

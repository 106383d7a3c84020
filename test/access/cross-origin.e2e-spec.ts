import { describe, expect, it } from '@jest/globals';
import { reply } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

const ORIGIN = 'https://app.example.com';
const EXPOSED = ['retry-after', 'www-authenticate'];

function listed(response: Response, header: string): string[] {
  return (response.headers.get(header) ?? '').toLowerCase().split(/,\s*/).sort();
}

describe.each(PLATFORMS)('a page of another origin, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start(cors: { readonly allowedHeaders?: string[]; readonly exposedHeaders?: string[] }) {
    const service = await bed.service();
    const sample = { baseUrl: service.url, options: { retry: false as const } };
    const app = await bed.sample(sample, { configure: (nest) => nest.enableCors({ origin: ORIGIN, ...cors }) });
    return { service, app };
  }

  it('may read the headers of denials that exposedHeaders names', async () => {
    const { service, app } = await start({ exposedHeaders: EXPOSED });
    service.on('user_details', reply(503));
    const denials = [await app.get('/me', undefined, { origin: ORIGIN }), await app.get('/me', 'token', { origin: ORIGIN })];

    expect(denials.map(({ status }) => status)).toEqual([401, 503]);
    for (const denial of denials) {
      expect(denial.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(listed(denial, 'access-control-expose-headers')).toEqual(EXPOSED);
    }
    expect([denials[0]?.headers.has('www-authenticate'), denials[1]?.headers.has('retry-after')]).toEqual([true, true]);
  });

  it.each<[string, string[] | undefined]>([
    ['by default', undefined],
    ['if allowedHeaders names them', ['content-type', 'x-auth-token', 'x-auth-iv']],
  ])('may send the headers of a session %s, and its preflight makes no call', async (_case, allowedHeaders) => {
    const { service, app } = await start(allowedHeaders ? { allowedHeaders } : {});
    const headers = { origin: ORIGIN, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-auth-iv,x-auth-token' };
    const preflight = await fetch(`${app.url}/me`, { method: 'OPTIONS', headers });

    expect(preflight.status).toBe(204);
    expect(listed(preflight, 'access-control-allow-headers')).toEqual(expect.arrayContaining(['x-auth-iv', 'x-auth-token']));
    expect(service.requests).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningDemo, startDemo } from '../../apps/demo/src/start-demo.js';
import { platforms } from '../support/platforms.js';
import { DemoClient } from './demo-client.js';

const CHALLENGE = 'X-Auth-Token realm="session"';

describe.each(platforms('Express'))('the demo on %s', (_platform, newAdapter) => {
  let demo: RunningDemo;
  let client: DemoClient;

  beforeAll(async () => {
    demo = await startDemo({ port: 0, env: {}, newAdapter });
    client = new DemoClient(demo.url);
  });

  afterAll(() => demo.close());

  it('leads a manager from sign-in over an approval to the refusal after sign-out', async () => {
    const signedIn = await client.signIn('manager', 'manager-demo');
    expect(signedIn.status).toBe(200);
    expect(signedIn.headers.get('cache-control')).toBe('no-store');
    const { user, token } = signedIn.json() as { user: Record<string, unknown>; token: string };
    expect(user).toMatchObject({ username: 'manager', role: 'hiring_manager' });

    const me = await client.get('/api/me', token);
    expect(me.status).toBe(200);
    expect(me.json()).toEqual(user);
    expect(me.headers.get('cache-control')).toBe('no-store');
    expect(me.headers.get('vary')).toMatch(/x-auth-token/i);

    const openings = await client.get('/api/openings', token);
    expect(openings.status).toBe(200);
    const [first] = openings.json() as [{ id: string }];

    const approval = await client.send('POST', `/api/openings/${first.id}/approval`, { token });
    expect(approval.status).toBe(200);
    expect(approval.json()).toMatchObject({ id: first.id, approvedBy: 'manager' });

    const signedOut = await client.send('DELETE', '/api/session', { token });
    expect(signedOut.status).toBe(204);
    expect(signedOut.text).toBe('');

    const refused = await client.get('/api/me', token);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(`${CHALLENGE}, error="invalid_token"`);
    expect(refused.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['/', 'text/html'],
    ['/page.css', 'text/css'],
    ['/page.js', 'text/javascript'],
    ['/sources.json', 'application/json'],
  ])('serves %s to everyone, allowed to load nothing from elsewhere', async (path, type) => {
    const reply = await client.get(path);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain(type);
    expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(reply.headers.get('content-security-policy')).not.toContain('unsafe');
  });

  it.each(['/package.json', '/%2e%2e/package.json'])('serves no other file, such as %s', async (path) => {
    expect((await client.get(path)).status).toBe(404);
  });

  it('sends the token in the reply to the sign-in only', async () => {
    const token = await client.tokenOf('manager');
    const replies = [await client.send('POST', '/api/openings/op-1/approval', { token })];
    for (const path of ['api/me', 'api/onboarding', 'api/health', '', 'docs-json'])
      replies.push(await client.get(`/${path}`, token));
    replies.push(await client.send('DELETE', '/api/session', { token }), await client.get('/api/me', token));
    const leaks = replies.filter(
      (reply) => reply.text.includes(token) || [...reply.headers.values()].join('\n').includes(token),
    );
    expect(leaks).toEqual([]);
  });
});

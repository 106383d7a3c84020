import { describe, expect, it } from '@jest/globals';
import type { ApiKey } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { json } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const never = (): Promise<string> => new Promise(() => undefined);
const broken = (): never => {
  throw new Error('the vault is sealed');
};
const giving = (value: unknown): ApiKey => (() => value) as ApiKey;

const UNUSABLE: [string, ApiKey][] = [
  ['throws', broken],
  ['rejects', () => Promise.reject(new Error('the vault is sealed'))],
  ['never settles', never],
  ['gives nothing', giving(undefined)],
  ['gives null', giving(null)],
  ['gives a number', giving(7)],
  ['gives an empty key', giving('')],
  ['gives a blank-edged key', giving(' key')],
  ['gives a key with a line break', giving('key\r\nX-AUTH-TOKEN: other')],
  ['gives a key beyond ASCII', giving('kéy')],
  ['gives a key that is too long', giving('k'.repeat(4097))],
];

describe.each(PLATFORMS)('an application key from a function on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is asked for before each call, so that it can change', async () => {
    let version = 0;
    const service = await bed.service();
    const keys: ApiKey[] = [() => `key-${(version += 1)}`, () => Promise.resolve(`key-${(version += 1)}`)];

    for (const apiKey of keys) {
      const app = await bed.sample({ baseUrl: service.url, options: { apiKey } });
      await app.get('/me', service.signInAs({}));
      await app.get('/me', 'bad');
    }
    expect(service.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['key-1', 'key-2', 'key-3', 'key-4']);
  });

  it.each(UNUSABLE)('that %s makes the reply 503, in time and without a call to the service', async (_case, apiKey) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { apiKey, timeoutMs: 200 } });
    const reply = await app.get('/me', service.signInAs({}));

    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await reply.text()).not.toMatch(/vault|key/);
    expect(service.requests).toHaveLength(0);
  });
});

describe('an application key from a function, for sign-in and sign-out', () => {
  const bed = testbed();

  it('is asked for too', async () => {
    const service = await bed.service();
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const sessions = await bed.sessions({ baseUrl: service.url, options: { apiKey: () => Promise.resolve('vault-key') } });
    await sessions.signIn({ username: 'ann', password: 'x' });
    await sessions.signOut('token');

    expect(service.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['vault-key', 'vault-key']);
  });

  it.each(UNUSABLE)('that %s makes the service unavailable', async (_case, apiKey) => {
    const service = await bed.service();
    const timeoutMs = apiKey === never ? 200 : 60_000;
    const options = { apiKey, signInTimeoutMs: timeoutMs, signOutTimeoutMs: timeoutMs };
    const sessions = await bed.sessions({ baseUrl: service.url, options });
    const reason = apiKey === never ? 'timeout' : 'api_key';

    await expect(sessions.signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({ statusCode: 503, reason });
    await expect(sessions.signOut('token')).rejects.toMatchObject({ statusCode: 503, reason });
    expect(service.requests).toHaveLength(0);
  });
});

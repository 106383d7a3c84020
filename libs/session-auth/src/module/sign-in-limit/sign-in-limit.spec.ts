import { describe, expect, it } from '@jest/globals';
import { CredentialsRejectedError } from '../../exceptions/session-exceptions.js';
import { MAX_KEYS, SignInLimit } from './sign-in-limit.js';

const SETTINGS = { failures: 3, failuresPerClient: 30, windowMs: 86_400_000 };
const rejected = new CredentialsRejectedError();

async function fail(limit: SignInLimit, client: string, username = 'ann'): Promise<unknown> {
  return limit.run(username, client, () => Promise.reject(rejected)).catch((error: unknown) => (error as { code: string }).code);
}

describe('SignInLimit', () => {
  it('has bounded tables, and keeps an attacker in them whatever other clients fail', async () => {
    const limit = new SignInLimit(SETTINGS, () => undefined);
    for (let time = 0; time < 3; time += 1) await fail(limit, '203.0.113.7');
    for (let client = 0; client < MAX_KEYS + 1_000; client += 1) {
      await fail(limit, `2001:db8:${(client >> 8).toString(16)}:${(client & 255).toString(16)}::1`);
    }

    expect(limit.size).toBe(2 * MAX_KEYS);
    expect(await fail(limit, '203.0.113.7')).toBe('TOO_MANY_ATTEMPTS');
    expect(await limit.run('ann', '203.0.113.8', () => Promise.resolve({ kind: 'signed-in' }))).toEqual({ kind: 'signed-in' });
  });

  it('has nothing in its tables after sign-ins that succeed or meet an outage', async () => {
    const limit = new SignInLimit(SETTINGS, () => undefined);
    await fail(limit, '203.0.113.7');
    limit.reset();
    await limit.run('ann', '203.0.113.7', () => Promise.resolve({ kind: 'signed-in' }));
    await limit.run('ann', '203.0.113.7', () => Promise.reject(new Error('outage'))).catch(() => undefined);

    expect(limit.size).toBe(0);
  });

  it('throws where the function that is called throws, and counts nothing in flight from then on', async () => {
    const limit = new SignInLimit(SETTINGS, () => undefined);
    const broken = (): never => {
      throw new TypeError('a bug');
    };

    await expect(limit.run('ann', '203.0.113.7', broken)).rejects.toThrow('a bug');
    expect(limit.size).toBe(0);
  });
});

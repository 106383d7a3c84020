import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDatabase } from '../database/open-database.js';
import { digestOf } from '../secrets/secret-digest.js';
import { runAdministration } from './run-administration.js';

describe('the administration', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'session-service-'));
  });

  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const run = (line: string, environment: NodeJS.ProcessEnv = {}): Promise<string> =>
    runAdministration(line.split(' '), environment, { dataDir });

  it('adds an application, keeps only the digest of its key and does not repeat the key', async () => {
    const said = await run('add-application openings', { APPLICATION_KEY: 'a-key-of-its-own' });

    expect(said).not.toContain('a-key-of-its-own');
    expect(await stored('applications')).toMatchObject([
      { name: 'openings', key_digest: digestOf('a-key-of-its-own') },
    ]);
  });

  it('adds a user with the fields that were given', async () => {
    await run('add-user ann --role hiring_manager --sub-role approver --client-id 12 --ats-enabled', {
      USER_PASSWORD: 'open sesame',
    });

    const [user] = await stored('users');
    expect(user).toMatchObject({
      username: 'ann',
      role: 'hiring_manager',
      sub_role: 'approver',
      client_id: 12,
      ats_enabled: 1,
      pending: 0,
    });
    expect(JSON.stringify(user)).not.toContain('open sesame');
  });

  it.each([
    ['an unknown command', 'drop-everything', {}, 'there is no command'],
    ['an application without a name', 'add-application', {}, 'exactly one NAME'],
    ['a short application key', 'add-application openings', { APPLICATION_KEY: 'short' }, 'at least 16'],
    ['a password among the arguments', 'add-user ann --password sesame', {}, 'password'],
  ])('refuses %s and says why', async (_, line, environment, reason) => {
    await expect(run(line, environment)).rejects.toThrow(reason);
  });

  it('refuses a user name that is taken', async () => {
    await run('add-user ann', { USER_PASSWORD: 'first' });
    await expect(run('add-user ann', { USER_PASSWORD: 'second' })).rejects.toThrow('taken');
  });

  async function stored(table: 'applications' | 'users'): Promise<object[]> {
    const database = await openDatabase({ dataDir });
    const rows = await database.selectFrom(table).selectAll().execute();
    await database.destroy();
    return rows;
  }
});

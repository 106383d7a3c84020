import { describe, expect } from '@jest/globals';
import { bytes, json, reply, type Script } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const RECORD = JSON.stringify(ANN);

const as = (contentType: string, body: string | Buffer = RECORD): Script => reply(200, body, { 'content-type': contentType });
const raw = (body: string): Script => as('application/json', body);

/** Asks once for each answer of user_details; none of them is remembered, and each is asked for once. */
async function statusesOf(trial: Trial, scripts: readonly Script[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const script of scripts) {
    trial.service.on('user_details', script);
    statuses.push(await trial.status());
  }
  expect(trial.calls()).toBe(scripts.length);
  return statuses;
}

describe.each(PLATFORMS)('bodies on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const remembering = { options: { cache: { ttlMs: 300_000 } } };

  async function expectUnusable(trial: Trial, scripts: readonly Script[]): Promise<void> {
    expect(await statusesOf(trial, scripts)).toEqual(scripts.map(() => 503));
  }

  row(
    'malformed JSON becomes 503, and is not remembered [C01]',
    async (trial) => expectUnusable(trial, ['{', `${RECORD}}`, `${RECORD},`, "{'username':'ann'}", 'username=ann', '{'].map(raw)),
    remembering,
  );

  row('JSON that is no object becomes 503 [C02]', async (trial) => {
    await expectUnusable(trial, ['null', '[]', '42', '"x"', 'true', `[${RECORD}]`].map(raw));
  });

  row('a record of nobody becomes 503 [C03]', async (trial) => {
    const nobody = [{}, { role: 'hiring_manager' }, { username: '', email: '' }, { username: null, email: null }];
    await expectUnusable(trial, nobody.map(json));
  });

  row('fields that are absent or null are undefined: they let the caller in, and give no privilege [C04]', async (trial) => {
    const nulls = Object.fromEntries(['role', 'sub_role', 'first_name', 'help_checkbox', 'ccl_info'].map((name) => [name, null]));
    for (const record of [{ username: 'ann' }, { username: 'ann', ...nulls }, { email: 'ann@a.example', username: null }]) {
      trial.service.on('user_details', json(record));
      const named = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
      expect(JSON.parse((await trial.ask()).body)).toEqual(named);
      expect([await trial.status({ path: '/hm' }), await trial.status({ path: '/sub' })]).toEqual([403, 403]);
    }
  });

  row('fields that the interface does not name are dropped from the user [C05]', async (trial) => {
    trial.service.on('user_details', json({ ...ANN, is_admin: true, roles: ['admin'], ccl_info: { client_id: 7, owner: true } }));
    const { status, body } = await trial.ask();

    expect([status, JSON.parse(body)]).toEqual([200, { ...ANN, ccl_info: { client_id: 7 } }]);
  });

  row('a role that is an array, an object or a number becomes 503 [C06]', async (trial) => {
    await expectUnusable(
      trial,
      [['hiring_manager'], [], { name: 'hiring_manager' }, 7].map((role) => json({ ...ANN, role })),
    );
  });

  row('a record with a __proto__ of its own gives no role, and spoils no other object [C07]', async (trial) => {
    trial.service.on('user_details', raw('{"__proto__":{"role":"hiring_manager"},"username":"a"}'));

    expect(await trial.status({ path: '/hm' })).toBe(403);
    expect(({} as { role?: unknown }).role).toBeUndefined();
  });

  row('a record declared as something other than JSON becomes 503, and without a content type lets the caller in [C08]', async (trial) => {
    expect(await statusesOf(trial, [as('text/html'), as('text/plain'), reply(200, RECORD)])).toEqual([503, 503, 200]);
  });

  row('a body that ends before its Content-Length becomes 503 [C11]', async (trial) => {
    trial.service.on('user_details', bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 200', '', RECORD));

    expect(await trial.status()).toBe(503);
    expect(trial.calls()).toBeLessThanOrEqual(2);
  });

  row('the language is read from preffered_language, as the interface spells it, and from nothing else [C12]', async (trial) => {
    trial.service.on('user_details', json({ username: 'ann', preferred_language: 'fr' }));
    expect(JSON.parse((await trial.ask()).body)).toEqual({ username: 'ann' });

    trial.service.on('user_details', json({ username: 'ann', preffered_language: 'de', preferred_language: 'fr' }));
    expect(JSON.parse((await trial.ask()).body)).toEqual({ username: 'ann', preffered_language: 'de' });
  });

  row('an id that is no safe integer becomes 503 [C13]', async (trial) => {
    const ids = ['1e999', '9007199254740993', '1.5', '"7"'].map((id) => raw(`{"username":"ann","ccl_info":{"client_id":${id}}}`));
    await expectUnusable(trial, ids);
  });

  row('a record behind a byte order mark lets the caller in [C14]', async (trial) => {
    expect(await statusesOf(trial, [raw(`\ufeff${RECORD}`)])).toEqual([200]);
  });
});

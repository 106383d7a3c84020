import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
import { json, reply, bytes, type Script } from '../support/scripted-service.js';
import { sharedSample } from '../support/shared-sample.js';
import { TRANSPORTS } from '../support/transports.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const RECORD = JSON.stringify(ANN);
const as = (contentType: string, body: string | Buffer = RECORD): Script =>
  reply(200, body, { 'content-type': contentType });
const raw = (body: string): Script => as('application/json', body);
const chunked =
  (body: string): Script =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(body.slice(0, 9));
    response.end(body.slice(9));
  };

const endless: Script = (_request, response) => {
  const write = (): void => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', write);
  write();
};

const USABLE: [string, Script][] = [
  ['a record in pieces', chunked(RECORD)],
  ['a record that is exactly as long as allowed', raw(RECORD.padEnd(200))],
];

const UNUSABLE: [string, Script][] = [
  ['invalid UTF-8', as('application/json', Buffer.from('{"username":"ann\xff"}', 'latin1'))],
  ['gzip without a request for it', reply(200, gzipSync(RECORD), { 'content-encoding': 'gzip' })],
  ['one byte more than allowed', raw(RECORD.padEnd(201))],
  ['one byte more than allowed, in pieces', chunked(RECORD.padEnd(201))],
  ['without an end', endless],
];

describe.each(platforms('Express'))('the body of a 200 on %s', (_name, platform) => {
  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    const options = { http: { ...http(), maxResponseBytes: 200 }, retry: false, breaker: false } as const;
    const shared = sharedSample({ options }, platform);

    async function statusFor(script: Script): Promise<number> {
      shared.service.on('user_details', script);
      return (await shared.app.get('/me', randomUUID())).status;
    }

    it.each(USABLE)('lets the caller in when it is %s', async (_case, script) => {
      expect(await statusFor(script)).toBe(200);
    });

    it.each(UNUSABLE)('makes the reply 503 when it is %s [C09] [C10]', async (_case, script) => {
      expect(await always(() => statusFor(script))).toBe(503);
    });
  });
});

/** Sends one request for each answer of user_details, and expects one uncached call for each. */
async function statusesOf(trial: Trial, scripts: readonly Script[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const script of scripts) {
    trial.service.on('user_details', script);
    statuses.push(await trial.status());
  }
  expect(trial.calls()).toBe(scripts.length);
  return statuses;
}

describe.each(platforms('Express'))('bodies on %s', (_name, platform) => {
  const row = rowsOn(platform);

  async function expectUnusable(trial: Trial, scripts: readonly Script[]): Promise<void> {
    expect(await statusesOf(trial, scripts)).toEqual(scripts.map(() => 503));
  }

  row(
    'malformed JSON, what is no object, has no name or a field of another type becomes 503, and is not cached [C01] [C02] [C03] [C06]',
    async (trial) => {
      const malformed = ['', '{', `${RECORD}}`, '\ufeff', 'username=ann', `${RECORD}\0`];
      const nameless = [
        {},
        { username: '', email: '' },
        { username: null, email: null },
        { Username: 'ann' },
      ];
      const roles = [['hiring_manager'], { name: 'hiring_manager' }, 7].map((role) => ({ role }));
      const wrong = [...roles, { ats_enabled: 'true' }, { ccl_info: [] }, { ccl_info: 7 }, { username: 7 }];
      await expectUnusable(trial, [
        ...[...malformed, 'null', '42', '"x"', `[${RECORD}]`].map(raw),
        ...nameless.map(json),
        ...wrong.map((field) => json({ ...ANN, email: 'ann@a.example', ...field })),
      ]);
    },
    { options: { cache: { ttlMs: 300_000 } } },
  );

  row(
    'fields that are absent or null are undefined: they let the caller in, and give no privilege [C04]',
    async (trial) => {
      const nulls = { username: null, role: null, sub_role: null, help_checkbox: null, ccl_info: null };
      for (const record of [{ username: 'ann' }, { email: 'ann@a.example', ...nulls }]) {
        trial.service.on('user_details', json(record));
        const named = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
        expect(JSON.parse((await trial.ask()).body)).toEqual(named);
        expect([await trial.status({ path: '/hm' }), await trial.status({ path: '/sub' })]).toEqual([
          403, 403,
        ]);
      }
    },
  );

  row('fields that the interface does not name are dropped from the user [C05]', async (trial) => {
    trial.service.on(
      'user_details',
      json({ ...ANN, is_admin: true, roles: ['admin'], ccl_info: { client_id: 7, owner: true } }),
    );
    const { status, body } = await trial.ask();

    expect([status, JSON.parse(body)]).toEqual([200, { ...ANN, ccl_info: { client_id: 7 } }]);
  });

  row('a record with an own __proto__ grants no role, and changes no other object [C07]', async (trial) => {
    trial.service.on('user_details', raw('{"__proto__":{"role":"hiring_manager"},"username":"a"}'));

    expect(await trial.status({ path: '/hm' })).toBe(403);
    expect(({} as { role?: unknown }).role).toBeUndefined();
  });

  row(
    'a record declared as something other than JSON becomes 503, and without a content type lets the caller in [C08]',
    async (trial) => {
      expect(await statusesOf(trial, [as('text/html'), as('text/plain'), reply(200, RECORD)])).toEqual([
        503, 503, 200,
      ]);
    },
  );

  row('a body that ends before its Content-Length becomes 503 [C11]', async (trial) => {
    trial.service.on(
      'user_details',
      bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 200', '', RECORD),
    );

    expect(await trial.status()).toBe(503);
    expect(trial.calls()).toBeLessThanOrEqual(2);
  });

  row(
    'the language is read from preffered_language, as the interface spells it, and from nothing else [C12]',
    async (trial) => {
      trial.service.on('user_details', json({ username: 'ann', preferred_language: 'fr' }));
      expect(JSON.parse((await trial.ask()).body)).toEqual({ username: 'ann' });

      const both = { username: 'ann', preffered_language: 'de', preferred_language: 'fr' };
      trial.service.on('user_details', json(both));
      expect(JSON.parse((await trial.ask()).body)).toEqual({ username: 'ann', preffered_language: 'de' });
    },
  );

  row(
    'an id that is no safe integer becomes 503, and the largest and the smallest ones let the caller in [C13]',
    async (trial) => {
      const scripts = (ids: readonly string[]): Script[] =>
        ids.map((id) => raw(`{"username":"ann","ccl_info":{"client_id":${id}}}`));
      const unsafe = ['1e999', '9007199254740993', '-9007199254740993', '1.5', '"7"'];
      const safe = ['9007199254740991', '-9007199254740991', 'null'];
      expect(await statusesOf(trial, scripts([...unsafe, ...safe]))).toEqual([
        ...unsafe.map(() => 503),
        ...safe.map(() => 200),
      ]);
    },
  );

  row('a record behind a byte order mark, or between blanks, lets the caller in [C14]', async (trial) => {
    expect(await statusesOf(trial, [raw(`\ufeff${RECORD}`), raw(`\r\n ${RECORD} \n`)])).toEqual([200, 200]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const ANN = '{"username":"ann"}';
const as = (contentType: string, body: string | Buffer = ANN): Script => reply(200, body, { 'content-type': contentType });
const ids = (id: string): Script => as('application/json', `{"username":"ann","ccl_info":{"client_id":${id}}}`);
const chunked =
  (body: string): Script =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(body.slice(0, 9));
    response.end(body.slice(9));
  };

const USABLE: [string, Script][] = [
  ['a record', json({ username: 'ann' })],
  ['a record with an email only', json({ email: 'ann@a.example' })],
  ['a record with a null username and an email', json({ username: null, email: 'ann@a.example' })],
  ['a record without a content type', reply(200, ANN)],
  ['a record with an empty content type', as('')],
  ['a record with a charset', as('application/json; charset=utf-8')],
  ['a record in capitals', as('Application/JSON')],
  ['a record as text/json', as('text/json')],
  ['a record as a JSON dialect', as('application/hal+json')],
  ['a record after a byte order mark', as('application/json', `\ufeff${ANN}`)],
  ['a record between blanks', as('application/json', `\r\n ${ANN} \n`)],
  ['a record in pieces', chunked(ANN)],
  ['a record that says it is not encoded', reply(200, ANN, { 'content-encoding': 'identity' })],
  ['a record that is exactly as long as allowed', as('application/json', ANN.padEnd(200))],
  ['the largest safe id', ids('9007199254740991')],
  ['the smallest safe id', ids('-9007199254740991')],
  ['an id written as 7.0', ids('7.0')],
  ['an empty ccl_info', json({ username: 'ann', ccl_info: {} })],
  ['a null ccl_info', json({ username: 'ann', ccl_info: null })],
];

const FIELDS = {
  string: ['role', 'sub_role', 'auth_token', 'preffered_language', 'display_label'],
  boolean: ['ats_enabled', 'help_checkbox'],
};
const wrongFields = [
  ...FIELDS.string.flatMap((name) => [7, true, [], ['boss'], {}].map((value) => ({ username: 'ann', [name]: value }))),
  ...FIELDS.boolean.flatMap((name) => ['true', 1, [], {}].map((value) => ({ username: 'ann', [name]: value }))),
  ...[[], [{}], 'x', 7, true].map((value) => ({ username: 'ann', ccl_info: value })),
  { username: 7, email: 'ann@a.example' },
];

const UNUSABLE: [string, Script][] = [
  ...[
    '',
    ' ',
    '{',
    `${ANN}}`,
    `${ANN},`,
    "{'username':'ann'}",
    '{"username":"ann",}',
    '\ufeff',
    'username=ann',
    `${ANN}\0`,
    'undefined',
  ].map((body): [string, Script] => [`no JSON: ${JSON.stringify(body)}`, as('application/json', body)]),
  ...['null', '[]', '42', '"x"', 'true', `[${ANN}]`, '""'].map((body): [string, Script] => [
    `no object: ${body}`,
    as('application/json', body),
  ]),
  ...[{}, { role: 'boss' }, { username: '' }, { username: '', email: '' }, { username: null, email: null }, { Username: 'ann' }].map(
    (record): [string, Script] => [`nobody: ${JSON.stringify(record)}`, json(record)],
  ),
  ...wrongFields.map((record): [string, Script] => [`a wrong field: ${JSON.stringify(record)}`, json(record)]),
  ...['1e999', '9007199254740993', '-9007199254740993', '1.5', '"7"', 'true', '[]', '{}'].map((id): [string, Script] => [
    `an unsafe id: ${id}`,
    ids(id),
  ]),
  ...[
    'text/html',
    'text/plain',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'text/html, application/json',
    'json',
    '+json',
  ].map((type): [string, Script] => [`a record declared as ${type}`, as(type)]),
  ['invalid UTF-8', as('application/json', Buffer.from('{"username":"ann\xff"}', 'latin1'))],
  ['UTF-16', as('application/json', Buffer.from(ANN, 'utf16le'))],
  ['gzip that nobody asked for', reply(200, gzipSync(ANN), { 'content-encoding': 'gzip' })],
  ['a gzip bomb', reply(200, gzipSync(Buffer.alloc(50 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' })],
  ['an unknown encoding', reply(200, ANN, { 'content-encoding': 'x-secret' })],
  ['one byte more than allowed', as('application/json', ANN.padEnd(201))],
  ['one byte more than allowed, in pieces', chunked(ANN.padEnd(201))],
  ['much more than allowed', as('application/json', ANN.padEnd(5_000_000))],
];

describe.each(oneOf(PLATFORMS))('the body of a 200 on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    async function statusFor(script: Script): Promise<number> {
      const service = await bed.service();
      service.on('user_details', script);
      const options = { http: { ...http(), maxResponseBytes: 200 }, retry: false } as const;
      const app = await bed.sample({ baseUrl: service.url, options });
      return (await app.get('/me', 'token')).status;
    }

    it.each(USABLE)('lets the caller in when it is %s', async (_case, script) => {
      expect(await statusFor(script)).toBe(200);
    });

    it.each(UNUSABLE)('makes the reply 503 when it is %s', async (_case, script) => {
      expect(await statusFor(script)).toBe(503);
    });
  });

  it('counts the language under the name that the interface spells', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const token = service.signInAs({ preffered_language: 'de', preferred_language: 'fr' });

    expect(await (await app.get('/me', token)).json()).toEqual({ username: 'ann', preffered_language: 'de' });
  });

  it('may by default have 65 536 bytes', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    service.on('user_details', as('application/json', ANN.padEnd(65_536)));
    expect((await app.get('/me', 'token')).status).toBe(200);

    service.on('user_details', as('application/json', ANN.padEnd(65_537)));
    expect((await app.get('/me', 'token')).status).toBe(503);
  });
});

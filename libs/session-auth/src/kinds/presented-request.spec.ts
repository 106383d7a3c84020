import { describe, expect, it } from '@jest/globals';
import { receivedRequest } from '../../../../test/support/session-parts.js';
import { handshakeRequest, presentedRequest, requestLike } from './handshake-request.js';

const NOTHING = { headers: {}, rawHeaders: undefined, handshakeFields: {} };

describe('the request of a handshake', () => {
  const upgrade = {
    headers: { host: 'example.com', 'x-auth-token': 'good' },
    rawHeaders: ['Host', 'example.com', 'X-Auth-Token', 'good'],
  };

  it('has the headers of the request that opened the socket, and apart from them the fields of the client [P24]', () => {
    const request = handshakeRequest(
      upgrade,
      { 'X-Auth-Token': 'first', host: 'evil.example' },
      { 'X-Auth-Token': 'chosen', token: 'field' },
    );
    const handshakeFields = { host: 'evil.example', 'x-auth-token': 'chosen', token: 'field' };
    expect(request).toEqual({ headers: upgrade.headers, rawHeaders: upgrade.rawHeaders, handshakeFields });
  });

  it('has a header as a field that was added to the request after the server received it [P24]', () => {
    const changed = {
      ...upgrade,
      headers: { ...upgrade.headers, host: 'evil.example', Origin: 'https://example.com' },
    };
    expect(handshakeRequest(changed)).toMatchObject({
      headers: upgrade.headers,
      handshakeFields: { origin: 'https://example.com' },
    });
  });

  it('has the headers of a server without raw headers as they are', () => {
    expect(handshakeRequest({ headers: { Host: 'a.example' } })).toMatchObject({
      headers: { host: 'a.example' },
      rawHeaders: [],
    });
  });

  it('has the headers of a request of Node.js, also behind that of Fastify; those of any other object are fields [P24]', () => {
    const node = receivedRequest({ host: 'a.example' });
    const built = { headers: { host: 'evil.example', token: 'built' } };
    for (const candidates of [[node], [undefined, { raw: node }], [built, { headers: {}, raw: node }]])
      expect(presentedRequest(candidates, undefined)).toEqual({
        headers: { host: 'a.example' },
        rawHeaders: node.rawHeaders,
        handshakeFields: {},
      });
    expect(presentedRequest([built, { raw: built }], { token: 'sent' })).toEqual({
      ...NOTHING,
      handshakeFields: { host: 'evil.example', token: 'sent' },
    });
    expect(
      presentedRequest([], { headers: { a: 'b', token: 'nested' }, token: 'sent' }).handshakeFields,
    ).toMatchObject({
      a: 'b',
      token: 'sent',
    });
  });

  it.each([undefined, null, 'token', 7])('has no fields if the client sends %j', (fields) => {
    expect(handshakeRequest(undefined, fields)).toEqual(NOTHING);
  });

  it('has 256 fields at most: if a client sends more, it has none of them', () => {
    const fieldsOf = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`field-${index}`, 'value']));
    expect(Object.keys(handshakeRequest(undefined, fieldsOf(256)).handshakeFields ?? {})).toHaveLength(256);
    const tooMany = fieldsOf(257);
    for (let time = 0; time < 2; time += 1)
      expect(handshakeRequest(upgrade, tooMany).handshakeFields).toEqual({});
  });

  it('has a list for a field that is sent in two spellings, and no prototype that a field could change', () => {
    const { handshakeFields = {} } = handshakeRequest(
      upgrade,
      JSON.parse('{ "Token": "a", "TOKEN": "b", "__proto__": { "x": "y" } }'),
    );
    expect(handshakeFields.token).toEqual(['a', 'b']);
    expect(handshakeFields.x).toBeUndefined();
  });

  it.each([undefined, null, {}, { headers: 'x-auth-token' }, { headers: null }, { headers: undefined }])(
    'is not found in %j',
    (candidate) => {
      expect(requestLike(candidate)).toBeUndefined();
    },
  );

  it('is found in an object with headers', () => {
    expect(requestLike(upgrade)).toBe(upgrade);
  });
});

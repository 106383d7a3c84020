import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { receivedRequest } from '../../../../test/support/session-parts.js';
import { handshakeRequest, presentedRequest, receivedHeaders, requestLike } from './handshake-request.js';

const NOTHING = { headers: {}, rawHeaders: undefined, handshakeFields: {} };

describe('the headers that the server received', () => {
  const LINES =
    'Host: a.example|HOST: b.example|Cookie: a=1|cookie: b=2|Accept: x|accept: y|Authorization: Bearer a|authorization: Bearer b|X-Empty: |Origin: https://a.example|Origin: null'
      .split('|')
      .flatMap((line) => line.split(': '));

  it('are those of Node.js, whatever was written to them since [P24]', () => {
    const request = new IncomingMessage(new Socket());
    request.rawHeaders = LINES;
    // As the parser of Node.js adds them.
    const parser = request as unknown as { _addHeaderLines(lines: string[], count: number): void };
    parser._addHeaderLines(LINES, LINES.length);
    const asReceived = { ...request.headers };
    Object.assign(request.headers, { host: 'evil.example', 'x-new': 'x' });
    expect({ ...receivedHeaders(request.rawHeaders) }).toEqual(asReceived);
  });

  it('have no prototype that a header could change', () => {
    const headers = receivedHeaders(['__proto__', 'x', 'constructor', 'y']);
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(Object.keys(headers)).toEqual(['__proto__', 'constructor']);
  });
});

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
    expect(request).toEqual({ ...upgrade, handshakeFields });
  });

  it('has a header as a field that was added to the request after the server received it [P24]', () => {
    const headers = { ...upgrade.headers, host: 'evil.example', Origin: 'https://example.com' };
    const handshakeFields = { origin: 'https://example.com' };
    expect(handshakeRequest({ ...upgrade, headers })).toEqual({ ...upgrade, handshakeFields });
  });

  it('has the headers of a server without raw headers as they are', () => {
    const request = { headers: { host: 'a.example' }, rawHeaders: [] };
    expect(handshakeRequest({ headers: { Host: 'a.example' } })).toMatchObject(request);
  });

  it('has the headers of a request of Node.js, also behind that of Fastify; those of any other object are fields [P24]', () => {
    const node = receivedRequest({ host: 'a.example' });
    const { headers, rawHeaders } = node;
    const built = { headers: { host: 'evil.example', token: 'built' } };
    for (const candidates of [[node], [undefined, { raw: node }], [built, { headers: {}, raw: node }]])
      expect(presentedRequest(candidates, undefined)).toEqual({ headers, rawHeaders, handshakeFields: {} });
    const handshakeFields = { host: 'evil.example', token: 'sent' };
    expect(presentedRequest([built, { raw: built }], { token: 'sent' })).toEqual({
      ...NOTHING,
      handshakeFields,
    });
    const nested = presentedRequest([], { headers: { a: 'b', token: 'nested' }, token: 'sent' });
    expect(nested.handshakeFields).toMatchObject({ a: 'b', token: 'sent' });
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
    const sent: unknown = JSON.parse('{ "Token": "a", "TOKEN": "b", "constructor": "c" }');
    const { handshakeFields = {} } = handshakeRequest(upgrade, sent);
    expect([handshakeFields.token, handshakeFields.constructor]).toEqual([['a', 'b'], 'c']);
  });

  it('is found in an object with headers only', () => {
    for (const candidate of [undefined, null, {}, { headers: 'x-auth-token' }, { headers: null }])
      expect(requestLike(candidate)).toBeUndefined();
    expect(requestLike(upgrade)).toBe(upgrade);
  });
});

import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { isReadable, readJsonObject } from './reply.js';

function read(body: string | Buffer | undefined, contentType?: string | string[]): object | undefined {
  return readJsonObject({
    status: 200,
    headers: { 'content-type': contentType },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  });
}

describe('the JSON object in a reply', () => {
  it('is the object that was serialized, for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(read(text, 'application/json')).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['null', '[]', '42', '"x"', 'true', '', '{', '{"a":1}x', '\u0000'])(
    'is not found in %p',
    (body) => {
      expect(read(body)).toBeUndefined();
    },
  );

  it('is found behind a byte order mark, and not behind two', () => {
    expect(read('\uFEFF{"a":1}')).toEqual({ a: 1 });
    expect(read('\uFEFF\uFEFF{"a":1}')).toBeUndefined();
  });

  it.each(['\uF03F', '\uFEC0', '\u3EFF', 'x\u00BF'])(
    'is not found behind %p, which has some bytes of a byte order mark',
    (start) => {
      expect(Buffer.from(start)).toHaveLength(3);
      expect(read(`${start}{"a":1}`)).toBeUndefined();
    },
  );

  it('is not found in invalid UTF-8, or without a body', () => {
    expect(read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
    expect(read(undefined)).toBeUndefined();
  });

  it.each([
    undefined,
    '',
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/problem+json',
    'text/json',
  ])('is read under %p', (type) => {
    expect(read('{}', type)).toEqual({});
  });

  it.each([
    'text/html',
    'text/plain',
    'application/json-seq',
    'application/json, text/html',
    'text/html, application/json',
    ' application/json',
    'application/json\u00a0',
    ';',
  ])('is not read under %p', (type) => {
    expect(read('{}', type)).toBeUndefined();
  });

  it.each([[['application/json', 'text/html']], [['application/json']]])(
    'is not read under the list %p',
    (types) => {
      expect(read('{}', types)).toBeUndefined();
    },
  );
});

describe('a body', () => {
  it.each([
    [{}, true],
    [{ 'content-length': '10' }, true],
    [{ 'content-length': '11' }, false],
    [{ 'content-encoding': 'identity' }, true],
    [{ 'content-encoding': 'gzip' }, false],
    [{ 'transfer-encoding': 'Chunked ' }, true],
    [{ 'transfer-encoding': 'gzip, chunked' }, false],
    [{ 'transfer-encoding': ['chunked', 'chunked'] }, false],
  ])('with the headers %p may be read: %p', (headers, expected) => {
    expect(isReadable(headers as IncomingHttpHeaders, 10)).toBe(expected);
  });
});

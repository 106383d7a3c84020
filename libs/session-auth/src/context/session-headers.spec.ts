import { describe, expect, it } from '@jest/globals';
import { removeSessionHeaders, sessionHeaders } from './session-headers.js';

describe('the headers of a session', () => {
  it('are its token, and its X-AUTH-IV if it has one', () => {
    expect(sessionHeaders({ token: 'token', authIv: 'iv' })).toStrictEqual({
      'X-AUTH-TOKEN': 'token',
      'X-AUTH-IV': 'iv',
    });
    expect(sessionHeaders({ token: 'token', authIv: undefined })).toStrictEqual({ 'X-AUTH-TOKEN': 'token' });
  });

  it('are none without a session', () => {
    expect(sessionHeaders(undefined)).toStrictEqual({});
  });

  it('are removed in every spelling, and no others', () => {
    const headers = {
      ...{
        'x-auth-token': 'a',
        'X-AUTH-TOKEN': 'b',
        'X-Auth-Token': 'c',
        'x-auth-iv': 'd',
        'X-AUTH-IV': 'e',
      },
      ...{ 'x-auth-tokens': 'f', 'x-auth': 'g', accept: 'h' },
    };
    removeSessionHeaders(headers);
    expect(headers).toStrictEqual({ 'x-auth-tokens': 'f', 'x-auth': 'g', accept: 'h' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { redactedHeaders } from './redacted-headers.js';

const ALWAYS = ['x-auth-token', 'x-auth-iv', 'x-api-key', 'authorization', 'cookie', 'set-cookie'];
const pathsOf = (headers: readonly string[]): string[] =>
  ['req', 'res'].flatMap((message) => headers.map((header) => `${message}.headers["${header}"]`));

describe('the headers that a log hides', () => {
  it('carry a key, a token, an IV or a cookie', () => {
    expect(redactedHeaders()).toEqual(pathsOf(ALWAYS));
  });

  it('include those that the application names, in lower case and once each', () => {
    expect(redactedHeaders('X-Partner-Token', 'COOKIE', 'x-partner-token')).toEqual(
      pathsOf([...ALWAYS, 'x-partner-token']),
    );
  });

  it('include the header of a token source, if it reads one', () => {
    const fromHeader = Object.assign(() => 'token', { header: 'X-Other' });
    expect(redactedHeaders(fromHeader, { header: 'X-More' }, () => 'token', {})).toEqual(
      pathsOf([...ALWAYS, 'x-other', 'x-more']),
    );
  });
});

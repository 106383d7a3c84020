import { describe, expect, it } from '@jest/globals';
import { isPlainTextBeyondLoopback } from './option-readers.js';
import { readSettings } from './settings.js';

function readBaseUrl(baseUrl: unknown): string {
  return readSettings({ baseUrl: baseUrl as string, apiKey: 'key' }).baseUrl;
}

describe('baseUrl', () => {
  it.each([
    ['https://sessions.example.com', 'https://sessions.example.com'],
    ['https://sessions.example.com/api/v1//', 'https://sessions.example.com/api/v1'],
    [new URL('http://127.0.0.1:3100/x/'), 'http://127.0.0.1:3100/x'],
    ['https://sessions.example.com/a//b', 'https://sessions.example.com/a//b'],
    ['https://sessions.example.com/my-authentication', 'https://sessions.example.com/my-authentication'],
  ])('%p is the root %p', (value, root) => {
    expect(readBaseUrl(value)).toBe(root);
  });

  it.each([
    [undefined, 'is missing'],
    ['', 'is missing'],
    ['localhost:3100', 'must start with http'],
    [' https://sessions.example.com', 'is not an absolute URL'],
    [null, 'is not an absolute URL'],
    [{ href: 'https://sessions.example.com/' }, 'is not an absolute URL'],
    ['https://user:canary@sessions.example.com', 'must not hold a user'],
    ['https://:canary@sessions.example.com', 'must not hold a user'],
    ['https://sessions.example.com/?key=canary', 'must not have a query'],
    ['https://sessions.example.com/?', 'must not have a query'],
    ['https://sessions.example.com/#', 'must not have a query'],
    ['https://sessions.example.com/api/authentication/', 'must not end in /authentication'],
  ])('%p is refused: it %s', (value, problem) => {
    const read = (): unknown => readBaseUrl(value);
    expect(read).toThrow(`SessionAuthModule: baseUrl ${problem}`);
    expect(read).toThrow(
      /[.] Give it the root of the session service, for example https:\/\/sessions[.]example[.]com\/api[.]$/,
    );
    expect(read).not.toThrow(/canary/);
  });

  it.each([
    ['http://localhost:3100', false],
    ['http://app.localhost', false],
    ['http://127.100.20.30', false],
    ['http://[::1]:3100', false],
    ['https://sessions.example.com', false],
    ['http://sessions.example.com', true],
    ['http://127.example', true],
    ['http://128.0.0.1', true],
    ['http://localhost.example.com', true],
    ['http://mylocalhost', true],
    ['http://[::2]', true],
  ])('%p sends secrets in plain text over a network: %p', (value, plain) => {
    expect(isPlainTextBeyondLoopback(value)).toBe(plain);
  });
});

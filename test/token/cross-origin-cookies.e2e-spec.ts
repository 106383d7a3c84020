import { describe, expect, it } from '@jest/globals';
import { All, Controller, Post, UseGuards } from '@nestjs/common';
import { CurrentUser, fromCookie, fromHeader, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { sharedSample } from '../support/shared-sample.js';

const TRUSTED = 'https://app.example.com';
const EVIL = 'https://evil.example';

const runs: string[] = [];

@Controller()
@UseGuards(SessionAuthGuard)
class NotesController {
  @All('notes') notes(@CurrentUser('username') username = ''): string {
    runs.push('notes');
    return username;
  }

  @Post('sign-in') @Public() @UseGuards(SameOriginGuard) signIn(): string {
    runs.push('sign-in');
    return 'signed in';
  }
}

describe.each(PLATFORMS)('a cookie in the request of a page of another origin, on %s', (_name, platform) => {
  const token = [fromHeader('x-auth-token'), fromCookie('sid', { trustedOrigins: [TRUSTED] })];
  const shared = sharedSample({ options: { token }, controllers: [NotesController] }, platform);

  async function send(method: string, path: string, headers: Record<string, string>, cookie = 'sid=good') {
    shared.service.signInAs({ username: 'ann' }, 'good');
    runs.length = 0;
    const lines = Object.entries({ cookie, ...headers }).map(([name, value]) => `${name}: ${value}`);
    const { status, headers: replied, body } = await sendRaw(shared.app.url, { method, path, lines });
    return { status, headers: replied, body, calls: shared.service.callsTo('user_details') };
  }

  it.each([
    ['POST', { 'Sec-Fetch-Site': 'cross-site', Origin: EVIL }],
    ['POST', { Origin: EVIL }],
    ['DELETE', { 'Sec-Fetch-Site': 'cross-site', Origin: EVIL }],
    ['GET', { Origin: EVIL, Upgrade: 'websocket' }],
  ])(
    'is denied with 403 and without a call, and its handler does not run: %s %j [P20]',
    async (method, headers) => {
      const reply = await send(method, '/notes', headers);

      expect([reply.status, reply.calls, runs]).toEqual([403, 0, []]);
      expect(JSON.parse(reply.body)).toEqual({
        statusCode: 403,
        message: 'Pages of another origin have no access',
        error: 'Forbidden',
        code: 'CROSS_ORIGIN_DENIED',
      });
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.has('www-authenticate')).toBe(false);
    },
  );

  it.each([
    ['GET', { 'Sec-Fetch-Site': 'cross-site', Origin: EVIL }],
    ['POST', { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://behind.a.proxy' }],
    ['POST', { Origin: TRUSTED }],
    ['POST', { Origin: 'http://localhost' }],
    ['POST', {}],
  ])(
    'is admitted if the request changes nothing, or its origin is its own or trusted: %s %j',
    async (method, headers) => {
      expect(await send(method, '/notes', headers as Record<string, string>)).toMatchObject({
        status: 200,
        calls: 1,
      });
    },
  );

  it('is denied if its origin has another port or is another subdomain', async () => {
    for (const Origin of ['http://localhost:3000', 'http://other.localhost'])
      expect(await send('POST', '/notes', { Origin })).toMatchObject({ status: 403 });
  });

  it('does not deny a request whose token is in a header, which no page of another origin can set without CORS', async () => {
    expect(await send('POST', '/notes', { Origin: EVIL, 'X-AUTH-TOKEN': 'good' })).toMatchObject({
      status: 200,
      body: 'ann',
    });
  });

  it('denies the sign-in behind SameOriginGuard, with and without a cookie, but for its own page', async () => {
    for (const cookie of ['sid=good', 'other=1']) {
      const denied = await send('POST', '/sign-in', { Origin: EVIL }, cookie);
      expect([denied.status, denied.headers.get('cache-control'), runs]).toEqual([403, 'no-store', []]);
      expect(JSON.parse(denied.body)).toMatchObject({ code: 'CROSS_ORIGIN_DENIED' });
      expect(await send('POST', '/sign-in', { 'Sec-Fetch-Site': 'same-origin' }, cookie)).toMatchObject({
        status: 201,
      });
    }
  });
});

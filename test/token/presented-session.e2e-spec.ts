import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import { inspect } from 'node:util';
import {
  AuthIv,
  AuthToken,
  CurrentSession,
  OptionalAuth,
  SessionAuthGuard,
  SessionAuthService,
  type Credentials,
  type PresentedSession,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

const IV = 'MTIzNDU2Nzg5MDEyMzQ1Ng==';

@Controller()
@UseGuards(SessionAuthGuard)
class SessionController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('presented')
  presented(@CurrentSession() session: PresentedSession, @AuthToken() token: string, @AuthIv() iv?: string) {
    return { session: [session.token, session.authIv ?? null], token, iv: iv ?? null };
  }

  @Get('returned')
  returned(@CurrentSession() session: PresentedSession) {
    return {
      session,
      printed: inspect(session, { showHidden: true, depth: Infinity }),
      spread: { ...session },
    };
  }

  @Post('session')
  @OptionalAuth()
  async signIn(@Body() credentials: Credentials, @CurrentSession() former?: PresentedSession) {
    const result = await this.sessions.signIn(credentials);
    if (former) await this.sessions.signOut(former);
    return { token: result.kind === 'signed-in' ? result.token : null };
  }
}

describe.each(PLATFORMS)('the presented session on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start(options = {}) {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [SessionController], options });
    const token = service.signInAs({ username: 'ann' });
    return { service, app, token };
  }

  it('has the token and the IV of the caller', async () => {
    const { app, token } = await start();

    expect(await (await app.get('/presented', token, { 'x-auth-iv': IV })).json()).toEqual({
      session: [token, IV],
      token,
      iv: IV,
    });
    expect(await (await app.get('/presented', token)).json()).toEqual({
      session: [token, null],
      token,
      iv: null,
    });
  });

  it('is in no response, log line or copy', async () => {
    const { app, token } = await start();
    const text = await (await app.get('/returned', token, { 'x-auth-iv': IV })).text();

    expect(JSON.parse(text)).toEqual({ session: {}, printed: expect.any(String) as unknown, spread: {} });
    expect([text.includes(token), text.includes(IV)]).toEqual([false, false]);
  });

  it('is ended by a handler that signs it out and signs in again, which returns a new token', async () => {
    const { service, app, token } = await start({ cache: { ttlMs: 60_000 } });
    service.addUser({ username: 'ann', password: 'secret' });
    const signIn = async (headers: Record<string, string>): Promise<string> => {
      const body = JSON.stringify({ username: 'ann', password: 'secret' });
      const response = await fetch(`${app.url}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      return ((await response.json()) as { token: string }).token;
    };
    const statusOf = async (presented: string): Promise<number> =>
      (await app.get('/presented', presented)).status;
    expect(await statusOf(token)).toBe(200);
    const second = await signIn({ 'x-auth-token': token });

    expect([second === token, await always(() => statusOf(token)), await statusOf(second)]).toEqual([
      false,
      401,
      200,
    ]);
    expect(await statusOf(await signIn({}))).toBe(200);
    expect(await statusOf(second)).toBe(200);
  });
});

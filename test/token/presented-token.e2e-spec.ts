import { describe, expect } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { IV, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

const CHALLENGE = 'X-Auth-Token realm="session"';
const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token"`;

const REQUIRED = {
  statusCode: 401,
  code: 'SESSION_REQUIRED',
  error: 'Unauthorized',
  message: 'A session token is required',
};

/** Each of these is refused with this challenge, and the service is asked nothing. */
async function expectRefused(trial: Trial, requests: readonly Ask[], challenge: string): Promise<void> {
  for (const request of requests) {
    const { status, headers, body } = await trial.ask(request);
    expect([request, status, headers.get('www-authenticate')]).toEqual([request, 401, challenge]);
    expect(JSON.parse(body)).toMatchObject(
      challenge === CHALLENGE ? REQUIRED : { statusCode: 401, code: 'SESSION_REJECTED' },
    );
  }
  expect(trial.calls()).toBe(0);
}

const linesOnly = (...lines: string[]): Ask => ({ token: null, lines });
const tokenLines = (...values: string[]): Ask => linesOnly(...values.map((value) => `X-AUTH-TOKEN:${value}`));

describe.each(PLATFORMS)('tokens on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a request without a token gets 401 and the challenge without an error, without a call, and so does an empty one [A01] [A02]',
    async (trial) => {
      const blank = ['', ' ', ' \t  '].map((value) => tokenLines(value));
      await expectRefused(trial, [{ token: null }, { token: null, iv: null }, ...blank], CHALLENGE);
    },
  );

  row(
    'a token header that is sent twice gets 401 without a call, with any values and any case of the names [A03]',
    async (trial) => {
      const twice = [
        tokenLines(TOKEN, TOKEN),
        tokenLines(TOKEN, 'other'),
        tokenLines('', TOKEN),
        tokenLines(TOKEN, ''),
        tokenLines('', ''),
        linesOnly(`x-Auth-Token: ${TOKEN}`, 'Accept: */*', `X-aUTH-tOKEN: other`),
      ];
      await expectRefused(trial, twice, INVALID_TOKEN);
    },
  );

  row(
    'a token of maxTokenLength passes with one call, and one that is a byte longer gets 401 without [A04]',
    async (trial) => {
      const longest = trial.service.signInAs(ANN, 't'.repeat(4_096));

      expect([await trial.status({ token: longest }), trial.calls()]).toEqual([200, 1]);
      expect([await trial.status({ token: `${longest}t` }), trial.calls()]).toEqual([401, 1]);
    },
  );

  row(
    'a token with a space, a tab, a comma and a space, or a byte above ASCII gets 401 without a call [A05]',
    async (trial) => {
      const inside = [' ', '\t', ', ', '\x80', '\xff'];
      const tokens = inside.map((bytes) => tokenLines(`${TOKEN}${bytes}${TOKEN}`));
      await expectRefused(trial, tokens, INVALID_TOKEN);
    },
  );

  row(
    'a token in the query, a cookie, the body, Authorization or X_AUTH_TOKEN is ignored: 401 without a call [A06]',
    async (trial) => {
      const encoded = encodeURIComponent(TOKEN);
      const elsewhere: Ask[] = [
        {
          token: null,
          path: `/me?x-auth-token=${encoded}&X-AUTH-TOKEN=${encoded}&auth_token=${encoded}&token=${encoded}`,
        },
        linesOnly(`Cookie: x-auth-token=${encoded}; auth_token=${encoded}; token=${encoded}`),
        { token: null, body: JSON.stringify({ 'x-auth-token': TOKEN, auth_token: TOKEN, token: TOKEN }) },
        linesOnly(`Authorization: Bearer ${TOKEN}`),
        linesOnly(`X_AUTH_TOKEN: ${TOKEN}`),
        linesOnly(`XAUTHTOKEN: ${TOKEN}`),
        { token: null, iv: TOKEN },
      ];
      await expectRefused(trial, elsewhere, CHALLENGE);
    },
  );

  row('the name of the header is case-insensitive [A07]', async (trial) => {
    for (const name of ['X-AUTH-TOKEN', 'x-auth-token', 'X-Auth-Token', 'x-AuTh-ToKeN']) {
      expect([name, await trial.status(linesOnly(`${name}: ${TOKEN}`))]).toEqual([name, 200]);
    }
  });

  row(
    'an X-AUTH-IV goes to the service unchanged, and a malformed one gets 401 without a call [A08]',
    async (trial) => {
      const malformed = ['i v', 'i\tv', 'iv\x80', 'i'.repeat(4_097)].map((iv): Ask => ({ iv }));
      await expectRefused(trial, [...malformed, { lines: [`x-auth-iv: ${IV}`] }], INVALID_TOKEN);

      const ivs = [IV, '!#$%&\'*+,-./:;<=>?@[]^_`{|}~"\\', 'i'.repeat(4_096)];
      for (const iv of ivs) expect(await trial.status({ iv })).toBe(200);
      expect(trial.service.requests.map(({ headers }) => headers['x-auth-iv'])).toEqual(ivs);
    },
  );

  row(
    'an X-AUTH-IV is not forwarded with `forwardAuthIv: false`, valid or not [A08]',
    async (trial) => {
      for (const iv of [IV, 'i v', 'iv\xe9']) expect([iv, await trial.status({ iv })]).toEqual([iv, 200]);
      for (const { headers } of trial.service.requests) expect(headers).not.toHaveProperty('x-auth-iv');
    },
    { options: { forwardAuthIv: false } },
  );
});

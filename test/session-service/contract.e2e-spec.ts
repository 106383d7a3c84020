/*
 * The contract of the User Session Service: the rows of `nestjs-session-auth-cli contract`.
 *
 * It checks our reference service, started here on each of its databases, unless these variables name another one:
 *
 *   SESSION_SERVICE_URL         base URL, without /authentication
 *   SESSION_SERVICE_API_KEY     a valid application key
 *   SESSION_SERVICE_MANAGER     username:password of a user (required)
 *   SESSION_SERVICE_RECRUITER   username:password of another user (optional)
 *   SESSION_SERVICE_NEWHIRE     username:password of a new hire (optional)
 *   SESSION_SERVICE_PENDING     username:password whose sign-in answers 202 (optional)
 *
 * It tries wrong passwords of SESSION_SERVICE_MANAGER, which may lock that account.
 *
 * The interface lists the statuses 400, 401, 403 and 404 but does not list their causes. So another service may
 * answer any of them to a request that is not granted; ours must answer the one we decided on. A behaviour that the interface
 * does not describe ("our decision") is checked against ours only, and shown as skipped for another.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statusOf } from '../../libs/session-auth-cli/src/calls/answer.js';
import { randomText } from '../../libs/session-auth-cli/src/calls/secrets.js';
import { ServiceClient } from '../../libs/session-auth-cli/src/calls/service-client.js';
import { type Need, SECTIONS } from '../../libs/session-auth-cli/src/contract/row.js';
import { CONTRACT_ROWS } from '../../libs/session-auth-cli/src/contract/rows.js';
import { decidedStatus } from './decided-statuses.js';
import { JSON_TYPE, KEY, MANAGER, post, signIn, signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord, RECORD_FIELDS } from './expectations.js';
import { send } from './send.js';
import {
  type Account,
  accounts,
  checksReferenceService,
  servicesUnderTest,
  type ServiceUnderTest,
} from './service-under-test.js';

const TIMEOUT_MS = 30_000;
const CALLS_WITH_TOKEN = [
  ['DELETE', '/authentication'],
  ['GET', '/authentication/user_details'],
] as const;
const itIsOurDecision = checksReferenceService ? it : it.skip;
const others = [accounts.recruiter, accounts.newhire].flatMap((account) => account ?? []);
const knownAccounts = (['manager', 'recruiter', 'newhire'] as const).flatMap((role) =>
  accounts[role] ? [[role, accounts[role]] as const] : [],
);
const users: Readonly<Record<Need, readonly (Account | undefined)[]>> = {
  nothing: [{ username: randomText(), password: randomText() }],
  user: [accounts.manager],
  'second user': others,
  'pending user': [accounts.pending],
};

describe.each(servicesUnderTest)('$name', ({ suite, open }) =>
  suite('keeps the contract', () => {
    let service: ServiceUnderTest;

    beforeAll(async () => {
      service = await open();
    });

    afterAll(() => service.close());

    describe.each(Object.values(SECTIONS))('%s', (section) => {
      for (const row of CONTRACT_ROWS.filter((candidate) => candidate.section === section))
        (users[row.needs][0] ? it : it.skip)(`${row.title} (${row.id})`, async () => {
          const { url, apiKey } = service;
          for (const user of users[row.needs].flatMap((known) => known ?? [])) {
            let left: number;
            const client = new ServiceClient({ url: url.replace(/\/+$/, ''), apiKey, timeoutMs: TIMEOUT_MS });
            try {
              await row.run(client, user);
            } finally {
              left = await client.endSessions();
            }
            const refusals = client.answers.map(statusOf).filter((status = 0) => status >= 400);
            if (checksReferenceService) expect(refusals).toEqual(refusals.map(() => decidedStatus(row.id)));
            expect([client.answers.length > 0, left]).toEqual([true, 0]);
          }
        });
    });

    describe('sign in: POST /authentication (our decision)', () => {
      itIsOurDecision('refuses a pending user whose password is wrong as any other', async () => {
        expectEmpty(await signIn(service.url, { username: 'pending', password: 'wrong' }), 401);
      });

      itIsOurDecision(
        'returns all fifteen fields of a hiring manager, the identifiers nested in ccl_info',
        async () => {
          const record = expectUserRecord(await signIn(service.url));

          expect(Object.keys(record).sort()).toEqual([...RECORD_FIELDS].sort());
          expect(record).toMatchObject({ username: 'manager', role: 'hiring_manager', sub_role: 'approver' });
          expect(Object.keys(record.ccl_info as object)).toEqual(['client_id', 'company_id', 'location_id']);
        },
      );
    });

    describe('user details: GET /authentication/user_details (our decision)', () => {
      itIsOurDecision.each(knownAccounts)(
        'answers 200 with the same record that the sign-in of the %s gave, with and without a slash',
        async (_, account) => {
          const signedIn = expectUserRecord(await signIn(service.url, account));
          for (const path of ['/authentication/user_details', '/authentication/user_details/']) {
            const reply = await userDetails(service.url, String(signedIn.auth_token), { path });
            expect(expectUserRecord(reply)).toEqual(signedIn);
          }
        },
      );
    });

    describe('sign out: DELETE /authentication (our decision)', () => {
      itIsOurDecision('grants one of many at the same time', async () => {
        const token = await tokenFrom(service.url);
        const replies = await Promise.all(Array.from({ length: 8 }, () => signOut(service.url, token)));

        expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
      });

      itIsOurDecision('ends only its own session, as every sign-in opens one', async () => {
        const [first, second] = [await tokenFrom(service.url), await tokenFrom(service.url)];
        const others = await tokenFrom(service.url, accounts.recruiter);
        expect(first).not.toBe(second);
        expectEmpty(await signOut(service.url, first), 200);

        expectEmpty(await userDetails(service.url, first), 401);
        expectUserRecord(await userDetails(service.url, second));
        expectUserRecord(await userDetails(service.url, others));
      });
    });

    itIsOurDecision('refuses an application key that is sent twice', async () => {
      const headers = {
        ...JSON_TYPE,
        'X-AUTH-TOKEN': await tokenFrom(service.url),
        'X-API-KEY': Array(2).fill(service.apiKey),
      };
      const call = { method: 'POST', path: '/authentication', headers, body: JSON.stringify(MANAGER) };
      expectEmpty(await send(service.url, call), 403);
      for (const [method, path] of CALLS_WITH_TOKEN)
        expectEmpty(await send(service.url, { method, path, headers }), 403);
    });

    itIsOurDecision('refuses a token that is sent twice, and its session stays valid', async () => {
      const token = await tokenFrom(service.url);
      const headers = { ...KEY, 'X-AUTH-TOKEN': [token, token] };
      for (const [method, path] of CALLS_WITH_TOKEN)
        expectEmpty(await send(service.url, { method, path, headers }), 401);
      expectUserRecord(await userDetails(service.url, token));
    });

    describe('every other request (our decision)', () => {
      itIsOurDecision.each([
        ['PUT', '/authentication'],
        ['GET', '/authentication/user_details/more'],
        ['GET', '/%zz'],
      ])('%s %s is answered with 404 and an empty body', async (method, path) => {
        expectEmpty(await send(service.url, { method, path, headers: KEY }), 404);
        expectEmpty(await send(service.url, { method, path }), 404);
      });
    });

    describe('every answer (our decision)', () => {
      itIsOurDecision(
        'forbids storing it, user_details in shared HTTP caches only, and does not name its software',
        async () => {
          const token = await tokenFrom(service.url);
          const answers = [
            await signIn(service.url),
            await signIn(service.url, accounts.pending),
            await userDetails(service.url, token),
            await post(service.url, '{}'),
            await userDetails(service.url, 'of-no-session'),
            await send(service.url, { method: 'GET', path: '/nowhere', headers: KEY }),
            await send(service.url, { method: 'GET', path: '/authentication/user_details' }),
            await signOut(service.url, token),
          ];

          expect(answers.map((answer) => answer.status)).toEqual([200, 202, 200, 400, 401, 404, 403, 200]);
          const caching = answers.map(({ headers }) => headers['cache-control']).join(' ');
          expect(caching).toBe('no-store no-store private no-store private no-store no-store no-store');
          for (const { headers } of answers) {
            expect(headers).not.toHaveProperty('x-powered-by');
            expect(headers).not.toHaveProperty('etag');
          }
        },
      );
    });
  }),
);

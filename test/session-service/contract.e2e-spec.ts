/*
 * The contract of the User Session Service, row by row of its interface.
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
 * The interface lists the statuses 400, 401, 403 and 404 but does not show what causes which. So another service may
 * answer any of them to a request that is not granted; ours must answer the one we decided on. What the interface does
 * not speak of at all ("our decision") is checked against ours only, and shown as skipped for another.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectEmpty, expectRefusal, expectUserRecord, RECORD_FIELDS } from './expectations.js';
import { send, type WireReply, type WireRequest } from './send.js';
import { type Account, accounts, checksReferenceService, servicesUnderTest, type ServiceUnderTest } from './service-under-test.js';

const itIsOurDecision = checksReferenceService ? it : it.skip;
const signInPaths = ['/authentication', '/authentication/'];
const signOutPaths = checksReferenceService ? signInPaths : ['/authentication'];
const userDetailsPaths = ['/authentication/user_details', ...(checksReferenceService ? ['/authentication/user_details/'] : [])];
const knownAccounts = (['manager', 'recruiter', 'newhire'] as const).flatMap((role) =>
  accounts[role] ? [[role, accounts[role]] as const] : [],
);

describe.each(servicesUnderTest)('$name', ({ suite, open }) =>
  suite('keeps the contract', () => {
    let service: ServiceUnderTest;

    beforeAll(async () => {
      service = await open();
    });

    afterAll(() => service.close());

    function call(request: WireRequest): Promise<WireReply> {
      const headers = { Accept: 'application/json', 'X-API-KEY': service.apiKey, ...request.headers };
      return send(service.url, { ...request, headers });
    }

    function post(body: string | undefined, headers: WireRequest['headers'] = {}, path = '/authentication'): Promise<WireReply> {
      return call({
        method: 'POST',
        path,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
      });
    }

    function signIn(account: Account | undefined, headers: WireRequest['headers'] = {}, path?: string): Promise<WireReply> {
      return post(JSON.stringify(account), headers, path);
    }

    async function tokenOf(account: Account | undefined): Promise<string> {
      return String(expectUserRecord(await signIn(account)).auth_token);
    }

    function userDetails(token: string, headers: WireRequest['headers'] = {}, path = '/authentication/user_details'): Promise<WireReply> {
      return call({ method: 'GET', path, headers: { 'X-AUTH-TOKEN': token, ...headers } });
    }

    function signOut(token: string, headers: WireRequest['headers'] = {}, path = '/authentication'): Promise<WireReply> {
      return call({ method: 'DELETE', path, headers: { 'X-AUTH-TOKEN': token, ...headers } });
    }

    describe('sign in: POST /authentication', () => {
      describe.each(signInPaths)('at %s', (path) => {
        it.each(knownAccounts)('answers 200 with the user record of the %s', async (_, account) => {
          const record = expectUserRecord(await signIn(account, {}, path));

          expect(record.auth_token).toMatch(/^[\x21-\x7e]+$/);
          expect([account.username, undefined]).toContain(record.username);
        });

        it('accepts an X-AUTH-IV', async () => {
          expectUserRecord(await signIn(accounts.manager, { 'X-AUTH-IV': 'bm9uY2UtMTIzNDU2Nzg5MA==' }, path));
        });

        it('refuses a wrong password with an empty body', async () => {
          expectRefusal(await signIn({ username: accounts.manager?.username ?? '', password: 'wrong' }, {}, path), 401);
        });
      });

      it('accepts a JSON media type with a charset', async () => {
        expectUserRecord(await signIn(accounts.manager, { 'Content-Type': 'application/json; charset=utf-8' }));
      });

      it('needs no X-AUTH-TOKEN, and does not mind one', async () => {
        expectUserRecord(await signIn(accounts.manager, { 'X-AUTH-TOKEN': 'of-no-session' }));
      });

      (accounts.pending ? it : it.skip)('answers 202 with an empty body to a pending user (our decision on when)', async () => {
        expectEmpty(await signIn(accounts.pending), 202);
      });

      itIsOurDecision('refuses a pending user whose password is wrong as any other', async () => {
        expectEmpty(await signIn({ username: 'pending', password: 'wrong' }), 401);
      });

      itIsOurDecision('returns all fifteen fields of a hiring manager, the identifiers nested in ccl_info', async () => {
        const record = expectUserRecord(await signIn(accounts.manager));

        expect(Object.keys(record).sort()).toEqual([...RECORD_FIELDS].sort());
        expect(record).toMatchObject({ username: 'manager', role: 'hiring_manager', sub_role: 'approver' });
        expect(Object.keys(record.ccl_info as object)).toEqual(['client_id', 'company_id', 'location_id']);
      });

      itIsOurDecision('leaves out what a user does not have: a new hire has no sub_role', async () => {
        const record = expectUserRecord(await signIn(accounts.newhire));

        expect(Object.keys(record).sort()).toEqual(RECORD_FIELDS.filter((name) => name !== 'sub_role').sort());
        expect(record).toMatchObject({ role: 'new_hire' });
      });

      it.each([
        ['not JSON', 'username=manager&password=manager-demo'],
        ['cut off', '{"username":"manager","password":"manager-d'],
        ['empty', ''],
        ['absent', undefined],
        ['null', 'null'],
        ['a number', '7'],
        ['a string', '"manager"'],
        ['an empty array', '[]'],
        ['an array of credentials', '[{"username":"manager","password":"manager-demo"}]'],
        ['an empty object', '{}'],
        ['without a username', '{"password":"manager-demo"}'],
        ['without a password', '{"username":"manager"}'],
        ['with an empty username', '{"username":"","password":"manager-demo"}'],
        ['with an empty password', '{"username":"manager","password":""}'],
        ['with a null password', '{"username":"manager","password":null}'],
        ['with a number for a username', '{"username":1,"password":"manager-demo"}'],
        ['with an array for a password', '{"username":"manager","password":["manager-demo"]}'],
        ['with an object for a username', '{"username":{"$ne":""},"password":"manager-demo"}'],
        ['with fields that only its prototype has', '{"__proto__":{"username":"manager","password":"manager-demo"}}'],
      ])('refuses a body that is %s as malformed', async (_, body) => {
        expectRefusal(await post(body), 400);
      });

      it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonish', ''])(
        'refuses the content type "%s" as malformed',
        async (type) => {
          expectRefusal(await signIn(accounts.manager, { 'Content-Type': type }), 400);
        },
      );

      itIsOurDecision('refuses a body without a content type as malformed', async () => {
        expectEmpty(await call({ method: 'POST', path: '/authentication', body: JSON.stringify(accounts.manager) }), 400);
      });

      it.each([
        ['an unknown user', { username: 'nobody-of-that-name', password: 'manager-demo' }],
        ['a wrong password', { username: accounts.manager?.username ?? '', password: 'wrong' }],
        ['the password with a NUL character behind it', withEnding('password', '\0')],
        ['the username with a NUL character behind it', withEnding('username', '\0')],
        ['the username with a blank behind it', withEnding('username', ' ')],
        ['SQL in the username', withEnding('username', `' OR '1'='1`)],
        ['SQL in the password', { username: accounts.manager?.username ?? '', password: `' OR '1'='1` }],
        ['a lone surrogate', withEnding('password', '\ud800')],
      ])('refuses %s as wrong credentials', async (_, account) => {
        expectRefusal(await signIn(account), 401);
      });

      function withEnding(field: keyof Account, ending: string): Account {
        const { username = '', password = '' } = accounts.manager ?? {};
        return field === 'username' ? { username: username + ending, password } : { username, password: password + ending };
      }
    });

    describe('user details: GET /authentication/user_details', () => {
      describe.each(userDetailsPaths)('at %s', (path) => {
        it.each(knownAccounts)('answers 200 with the same record that the sign-in of the %s gave', async (_, account) => {
          const signedIn = expectUserRecord(await signIn(account));
          const read = expectUserRecord(await userDetails(String(signedIn.auth_token), {}, path));

          if (checksReferenceService) expect(read).toEqual(signedIn);
          else expect(read.username).toEqual(signedIn.username);
        });

        it('accepts an X-AUTH-IV', async () => {
          expectUserRecord(await userDetails(await tokenOf(accounts.manager), { 'X-AUTH-IV': 'bm9uY2UtMTIzNDU2Nzg5MA==' }, path));
        });
      });

      it('answers as often as it is asked', async () => {
        const token = await tokenOf(accounts.manager);
        const replies = await Promise.all(Array.from({ length: 5 }, () => userDetails(token)));

        expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200, 200]);
      });

      itIsOurDecision('knows no 304: every good answer carries the record', async () => {
        expectUserRecord(await userDetails(await tokenOf(accounts.manager), { 'If-None-Match': '*' }));
      });
    });

    describe('sign out: DELETE /authentication', () => {
      describe.each(signOutPaths)('at %s', (path) => {
        it('answers 200 with an empty body, and the token is refused from then on', async () => {
          const token = await tokenOf(accounts.manager);

          expectEmpty(await signOut(token, {}, path), 200);
          expectRefusal(await userDetails(token), 401);
        });

        it('accepts an X-AUTH-IV', async () => {
          expectEmpty(await signOut(await tokenOf(accounts.manager), { 'X-AUTH-IV': 'bm9uY2UtMTIzNDU2Nzg5MA==' }, path), 200);
        });
      });

      itIsOurDecision('is refused the second time', async () => {
        const token = await tokenOf(accounts.manager);
        await signOut(token);

        expectEmpty(await signOut(token), 401);
      });

      itIsOurDecision('grants one of many at the same time', async () => {
        const token = await tokenOf(accounts.manager);
        const replies = await Promise.all(Array.from({ length: 8 }, () => signOut(token)));

        expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
      });

      itIsOurDecision('ends only its own session, as every sign-in opens one', async () => {
        const [first, second] = [await tokenOf(accounts.manager), await tokenOf(accounts.manager)];
        const others = await tokenOf(accounts.recruiter);
        expect(first).not.toBe(second);
        expectEmpty(await signOut(first), 200);

        expectEmpty(await userDetails(first), 401);
        expectUserRecord(await userDetails(second));
        expectUserRecord(await userDetails(others));
      });
    });

    describe.each([
      ['POST', '/authentication'],
      ['DELETE', '/authentication'],
      ['GET', '/authentication/user_details'],
    ])('the application key of %s %s', (method, path) => {
      const request = async (headers: WireRequest['headers']): Promise<WireReply> => {
        const token = await tokenOf(accounts.manager);
        const body = method === 'POST' ? { body: JSON.stringify(accounts.manager) } : {};
        const type = method === 'POST' ? { 'Content-Type': 'application/json' } : {};
        return send(service.url, { method, path, headers: { 'X-AUTH-TOKEN': token, ...type, ...headers }, ...body });
      };

      it('is refused with an empty body when it is missing', async () => {
        expectRefusal(await request({}), 403);
      });

      it.each([
        ['unknown', 'of-no-application'],
        ['empty', ''],
        ['blank', '  '],
      ])('is refused with an empty body when it is %s', async (_, key) => {
        expectRefusal(await request({ 'X-API-KEY': key }), 403);
      });

      it('is refused when it is not quite right', async () => {
        expectRefusal(await request({ 'X-API-KEY': `${service.apiKey}x` }), 403);
        expectRefusal(await request({ 'X-API-KEY': service.apiKey.slice(0, -1) }), 403);
      });

      it('is read from its header only', async () => {
        expectRefusal(await request({ Authorization: `Bearer ${service.apiKey}` }), 403);
        expectRefusal(await request({ X_API_KEY: service.apiKey }), 403);
      });

      itIsOurDecision('is refused when it is sent twice', async () => {
        expectEmpty(await request({ 'X-API-KEY': [service.apiKey, service.apiKey] }), 403);
      });

      it('is found whatever the case of the header name', async () => {
        expect((await request({ 'x-api-KEY': service.apiKey })).status).toBe(200);
      });
    });

    describe.each([
      ['DELETE', '/authentication'],
      ['GET', '/authentication/user_details'],
    ])('the token of %s %s', (method, path) => {
      const request = (headers: WireRequest['headers']): Promise<WireReply> => call({ method, path, headers: headers ?? {} });

      it('is refused with an empty body when it is missing', async () => {
        expectRefusal(await request({}), 401);
      });

      it.each([
        ['unknown', 'of-no-session'],
        ['empty', ''],
        ['blank', ' '],
        ['very long', 'x'.repeat(4096)],
        ['full of SQL', `' OR '1'='1`],
      ])('is refused with an empty body when it is %s', async (_, token) => {
        expectRefusal(await request({ 'X-AUTH-TOKEN': token }), 401);
      });

      it('is refused when it is not quite right', async () => {
        const token = await tokenOf(accounts.manager);

        expectRefusal(await request({ 'X-AUTH-TOKEN': `${token}x` }), 401);
        expectRefusal(await request({ 'X-AUTH-TOKEN': token.slice(0, -1) }), 401);
      });

      it('is read from its header only', async () => {
        const token = await tokenOf(accounts.manager);

        expectRefusal(await request({ Authorization: `Bearer ${token}` }), 401);
        expectRefusal(await request({ Cookie: `X-AUTH-TOKEN=${token}; auth_token=${token}` }), 401);
      });

      itIsOurDecision('is refused when it is sent twice, and its session goes on', async () => {
        const token = await tokenOf(accounts.manager);

        expectEmpty(await request({ 'X-AUTH-TOKEN': [token, token] }), 401);
        expectUserRecord(await userDetails(token));
      });
    });

    describe('every other request (our decision)', () => {
      itIsOurDecision.each([
        ['GET', '/'],
        ['GET', '/authentication'],
        ['PUT', '/authentication'],
        ['PATCH', '/authentication'],
        ['OPTIONS', '/authentication'],
        ['POST', '/authentication/user_details'],
        ['DELETE', '/authentication/user_details'],
        ['GET', '/authentication//'],
        ['GET', '/authentication/user_details/more'],
        ['GET', '/authentication/userdetails'],
        ['POST', '/authentications'],
        ['GET', '/%zz'],
      ])('%s %s is answered with 404 and an empty body', async (method, path) => {
        expectEmpty(await call({ method, path }), 404);
        expectEmpty(await send(service.url, { method, path }), 404);
      });
    });

    describe('every answer (our decision)', () => {
      itIsOurDecision('forbids storing it, user_details in shared HTTP caches alone, and does not say what made it', async () => {
        const token = await tokenOf(accounts.manager);
        const answers = [
          await signIn(accounts.manager),
          await signIn(accounts.pending),
          await userDetails(token),
          await post('{}'),
          await userDetails('of-no-session'),
          await call({ method: 'GET', path: '/nowhere' }),
          await send(service.url, { method: 'GET', path: '/authentication/user_details' }),
          await signOut(token),
        ];

        expect(answers.map((answer) => answer.status)).toEqual([200, 202, 200, 400, 401, 404, 403, 200]);
        const [no, ours] = ['no-store', 'private'];
        expect(answers.map(({ headers }) => headers['cache-control'])).toEqual([no, no, ours, no, ours, no, no, no]);
        for (const { headers } of answers) {
          expect(headers).not.toHaveProperty('x-powered-by');
          expect(headers).not.toHaveProperty('etag');
        }
      });
    });
  }),
);

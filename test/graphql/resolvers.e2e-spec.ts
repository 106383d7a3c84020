import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { always } from '../support/always.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';
import { postGraphql, type GraphqlReply } from './graphql-client.js';

const MANAGER = { role: 'hiring_manager' };

describe.each(GRAPHQL_SERVERS)('resolvers on %s', (_name, start) => {
  let service: ScriptedService;
  let server: GraphqlServer;
  let resolvedBefore: unknown;

  beforeAll(async () => {
    service = await startScriptedService();
    server = await start(service.url);
  });
  afterAll(async () => {
    await server.close();
    await service.close();
  });
  beforeEach(async () => {
    service.requests.length = 0;
    resolvedBefore = (await ask('{ resolved }')).data?.resolved;
  });

  const post = (body: unknown, token?: string, headers?: Record<string, string>): Promise<Response> =>
    postGraphql(server.url, body, token, headers);

  async function ask(query: string, token?: string): Promise<GraphqlReply> {
    return (await (await post({ query }, token)).json()) as GraphqlReply;
  }

  const resolved = async (): Promise<number> =>
    Number((await ask('{ resolved }')).data?.resolved) - Number(resolvedBefore);

  it('get the user, the token and the X-AUTH-IV of the request', async () => {
    const answer = await post({ query: '{ me }' }, service.signInAs({}, 'tok'), { 'x-auth-iv': 'iv-1' });

    expect(await answer.json()).toEqual({ data: { me: 'ann tok iv-1' } });
  });

  it.each([
    ['no token', undefined, 'me', 'UNAUTHENTICATED', { statusCode: 401, code: 'SESSION_REQUIRED' }],
    ['a refused token', 'bad', 'me', 'UNAUTHENTICATED', { statusCode: 401, code: 'SESSION_REJECTED' }],
    ['a user of another role', 'good', 'secrets', 'FORBIDDEN', { statusCode: 403, code: 'ACCESS_DENIED' }],
  ])(
    'refuse %s in the words of GraphQL, and do not run',
    async (_case, token, field, code, originalError) => {
      service.signInAs({ role: 'new_hire' }, 'good');
      const { data, errors } = await ask(`{ ${field} }`, token);

      expect(data).toBeNull();
      expect(errors).toEqual([expect.objectContaining({ path: [field] })]);
      expect(errors?.[0]?.extensions).toMatchObject({ code, originalError });
      expect(await resolved()).toBe(0);
    },
  );

  it('report an error of the service class that they do not catch with its code', async () => {
    service.on('sign_out', reply(403));
    const { errors } = await ask('{ signedOut }');
    expect(errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', originalError: { statusCode: 403, code: 'ACCESS_DENIED' } } },
    ]);
  });

  it('make one check of an operation for all its guarded fields, whenever they run', async () => {
    const { data } = await ask(
      '{ openings(count: 50) { owner salary } }',
      service.signInAs(MANAGER, 'manager'),
    );

    expect(data?.openings).toHaveLength(50);
    expect(service.callsTo('user_details')).toBe(1);
    expect(await resolved()).toBe(51);
  });

  it('make one check of a batch', async () => {
    service.signInAs(MANAGER, 'manager');
    const queries = ['{ me }', '{ openings(count: 3) { owner } }', '{ secrets }'].map((query) => ({ query }));
    const replies = (await (await post(queries, 'manager')).json()) as GraphqlReply[];

    expect(replies.map(({ data, errors }) => [errors, Object.keys(data ?? {})])).toEqual([
      [undefined, ['me']],
      [undefined, ['openings']],
      [undefined, ['secrets']],
    ]);
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('refuse a field by its own rule, and return the others', async () => {
    const token = service.signInAs({ role: 'new_hire' }, 'newcomer');
    const { data, errors } = await always(() => ask('{ openings(count: 1) { owner salary } }', token));

    expect(data).toEqual({ openings: [{ owner: 'ann 0', salary: null }] });
    expect(errors?.[0]).toMatchObject({ path: ['openings', 0, 'salary'], extensions: { code: 'FORBIDDEN' } });
  });
});

const CACHED = { options: { cache: { ttlMs: 60_000 } } };

/** Each names a dangerous handler beside harmless ones; the last one is a batch. */
const OPERATIONS = [
  [{ query: 'mutation { ping wipe }' }],
  [{ query: 'query { ping account { ...All } } fragment All on Account { id wipe }' }],
  ['{ ping }', '{ account { id } }', '{ account { wipe } }', '{ wipe }'].map((query) => ({ query })),
];

describe.each(GRAPHQL_SERVERS)('freshness in GraphQL on %s', (_name, start) => {
  let service: ScriptedService;
  let cached: GraphqlServer;
  let uncached: GraphqlServer;
  let wipedBefore = 0;

  beforeAll(async () => {
    service = await startScriptedService();
    [cached, uncached] = await Promise.all([start(service.url, CACHED), start(service.url)]);
  });
  afterAll(async () => {
    await Promise.all([cached.close(), uncached.close()]);
    await service.close();
  });
  beforeEach(async () => {
    wipedBefore = await wipes();
  });

  async function ask<Reply = GraphqlReply>(body: unknown, token = 'good', { url } = cached): Promise<Reply> {
    return (await (await postGraphql(url, body, token)).json()) as Reply;
  }

  async function wipes(): Promise<number> {
    return Number((await ask({ query: '{ wipes }' })).data?.wipes);
  }

  /** A session that the cache has as valid, and that the service refuses by now. */
  async function endedElsewhere(token: string): Promise<string> {
    service.signInAs({}, token);
    expect(await ask({ query: '{ ping }' }, token)).toEqual({ data: { ping: 'pong' } });
    service.revoke(token);
    return token;
  }

  it('no dangerous handler of an operation or a batch runs for a session that ended elsewhere, beside any other handlers [P01]', async () => {
    for (const [index, batch] of OPERATIONS.entries()) {
      const replies = await ask<GraphqlReply[]>(batch, await endedElsewhere(`ended-${index}`));
      const codes = replies.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code));
      expect([index, codes]).toEqual([index, expect.arrayContaining(['UNAUTHENTICATED'])]);
    }
    expect(await wipes()).toBe(wipedBefore);
  });

  it('a handler that signs the session out ends it for the handlers after it [P01]', async () => {
    service.signInAs({}, 'good');
    const signedOut = service.callsTo('sign_out');
    service.on('sign_out', (request, response) => {
      service.revoke('good');
      response.writeHead(200).end(request.method);
    });
    const { errors } = await ask({ query: 'mutation { wipe leave again: wipe ping }' });

    expect(errors?.map(({ path }) => path)).toEqual([['again']]);
    expect([service.callsTo('sign_out') - signedOut, (await wipes()) - wipedBefore]).toEqual([1, 1]);
  });

  it('all fields of one operation that ask for a fresh session share one call, with the cache on and off [P01]', async () => {
    for (const server of [cached, uncached]) {
      const token = service.signInAs({}, `fresh-${server === cached}`);
      for (const calls of [1, 2]) {
        const { errors } = await ask({ query: '{ a: wipe account { b: wipe recentWipe } }' }, token, server);
        expect(errors).toBeUndefined();
        const asked = service.requests.filter(({ headers }) => headers['x-auth-token'] === token);
        expect(asked).toHaveLength(calls);
      }
    }
  });
});

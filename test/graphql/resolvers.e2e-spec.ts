import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { canariesIn, TOKEN } from '../support/trial/canaries.js';
import { reply, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

interface GraphqlReply {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly path?: unknown; readonly extensions: Record<string, unknown> }[];
}

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

  async function post(body: unknown, token?: string): Promise<Response> {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) };
    return fetch(`${server.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async function ask(query: string, token?: string): Promise<GraphqlReply> {
    return (await (await post({ query }, token)).json()) as GraphqlReply;
  }

  const resolved = async (): Promise<number> => Number((await ask('{ resolved }')).data?.resolved) - Number(resolvedBefore);

  it('get the user and the token of the request', async () => {
    expect(await ask('{ me }', service.signInAs({}, 'tok'))).toEqual({ data: { me: 'ann tok' } });
  });

  it.each([
    ['no token', undefined, 'me', 'UNAUTHENTICATED', { statusCode: 401, code: 'SESSION_REQUIRED' }],
    ['a refused token', 'bad', 'me', 'UNAUTHENTICATED', { statusCode: 401, code: 'SESSION_REJECTED' }],
    ['a token that is none', 'not a token', 'me', 'UNAUTHENTICATED', { statusCode: 401, code: 'SESSION_REJECTED' }],
    ['a user of another role', 'good', 'secrets', 'FORBIDDEN', { statusCode: 403, code: 'ACCESS_DENIED' }],
  ])('refuse %s in the words of GraphQL, and do not run', async (_case, token, field, code, originalError) => {
    service.signInAs({ role: 'new_hire' }, 'good');
    const { data, errors } = await ask(`{ ${field} }`, token);

    expect(data).toBeNull();
    expect(errors).toEqual([expect.objectContaining({ path: [field] })]);
    expect(errors?.[0]?.extensions).toMatchObject({ code, originalError });
    expect(await resolved()).toBe(0);
  });

  it('say that the service is unavailable, and for how long, when it gives no usable answer', async () => {
    const { errors } = await ask('{ me }', service.signInAs({ username: 5 }, 'unusable'));

    const originalError = { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', originalError });
    expect(await resolved()).toBe(0);
  });

  it('tell no secret, whatever they refuse', async () => {
    service.signInAs({ role: 'new_hire' }, TOKEN);
    const replies = await Promise.all([ask('{ secrets }', TOKEN), ask('{ me }', `${TOKEN}?`)]);

    expect(replies.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual(['FORBIDDEN', 'UNAUTHENTICATED']);
    expect(canariesIn(JSON.stringify(replies))).toEqual([]);
  });

  it('make one check of an operation, however many of its fields are guarded, and whenever they are reached', async () => {
    const { data } = await ask('{ openings(count: 50) { owner salary } }', service.signInAs(MANAGER, 'manager'));

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

  it('keep the users of one client from the data of another, by the arguments of a field', async () => {
    service.signInAs({ ccl_info: { client_id: 7 } }, 'of-client-7');
    expect((await ask('{ client(clientId: 7) }', 'of-client-7')).data).toEqual({ client: 'client 7' });
    expect((await ask('{ client(clientId: 8) }', 'of-client-7')).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('refuse a field by its own rule, and give the others', async () => {
    const { data, errors } = await ask('{ openings(count: 1) { owner salary } }', service.signInAs({ role: 'new_hire' }, 'newcomer'));

    expect(data).toEqual({ openings: [{ owner: 'ann 0', salary: null }] });
    expect(errors?.[0]).toMatchObject({ path: ['openings', 0, 'salary'], extensions: { code: 'FORBIDDEN' } });
  });

  it('let a stranger in where they are open, with no call to the service', async () => {
    expect(await ask('{ greeting }')).toEqual({ data: { greeting: 'hello stranger' } });
    expect(await ask('{ signedOut }')).toEqual({ data: { signedOut: 'bye' } });
    expect(service.callsTo('user_details')).toBe(0);
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    service.on('sign_out', reply(400));
    const { errors } = await ask('{ signedOut }');
    service.on('sign_out', reply(200));

    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', originalError: { statusCode: 400, code: 'INVALID_REQUEST' } });
  });

  it('keep their replies out of caches', async () => {
    expect((await post({ query: '{ me }' }, service.signInAs({}, 'tok'))).headers.get('cache-control')).toBe('no-store');
  });

  it('never answer one user with another of the same time', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const replies = await Promise.all(
      names.map((username) => ask('{ openings(count: 2) { owner } }', service.signInAs({ username }, username))),
    );

    expect(replies.map(({ data }) => data)).toEqual(names.map((name) => ({ openings: [{ owner: `${name} 0` }, { owner: `${name} 1` }] })));
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { postGraphql, type GraphqlReply } from './graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { plainRow } from '../support/trial/row.js';

const CACHED = { options: { cache: { ttlMs: 60_000 } } };

/** Each names a dangerous handler beside a harmless one. */
const OPERATIONS = [
  'mutation { ping wipe }',
  'mutation { wipe ping }',
  'mutation { ping harmless: wipe }',
  'mutation { ...All } fragment All on Mutation { ping wipe }',
  'mutation { ping ... on Mutation { wipe } }',
  'query { ping wipe }',
  'query { wipe ping }',
  'query { account { id wipe } }',
  'query { ping account { ...All } } fragment All on Account { id wipe }',
];
const BATCHES = [
  ['{ ping }', 'mutation { wipe }'],
  ['mutation { wipe }', '{ ping }'],
  ['{ ping }', '{ account { id } }', '{ account { wipe } }', '{ wipe }'],
].map((queries) => queries.map((query) => ({ query })));

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

  plainRow('no dangerous handler of an operation runs for a session that ended elsewhere, whatever stands beside it [P01]', async () => {
    for (const [index, query] of OPERATIONS.entries()) {
      const { errors } = await ask({ query }, await endedElsewhere(`ended-${index}`));
      expect([query, errors?.map(({ extensions }) => extensions.code)]).toEqual([query, expect.arrayContaining(['UNAUTHENTICATED'])]);
    }
    expect(await wipes()).toBe(wipedBefore);
  });

  plainRow('no dangerous handler of a batch runs for a session that ended elsewhere, in whatever order [P01]', async () => {
    for (const [index, batch] of BATCHES.entries()) {
      const replies = await ask<GraphqlReply[]>(batch, await endedElsewhere(`batch-${index}`));
      expect(replies.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code))).toContain('UNAUTHENTICATED');
    }
    expect(await wipes()).toBe(wipedBefore);
  });

  plainRow('no dangerous subscription starts for a session that ended elsewhere [P01]', async () => {
    const token = await endedElsewhere('subscriber');
    const url = `${cached.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token }, retryAttempts: 0, lazy: false });
    const received: unknown[] = [];
    try {
      for await (const { errors } of client.iterate({ query: 'subscription { wiping }' })) received.push(...(errors ?? []));
    } catch (errors) {
      received.push(...(errors as unknown[]));
    }
    await client.dispose();

    expect(received).toEqual([expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) as unknown })]);
    expect(await wipes()).toBe(wipedBefore);
  });

  plainRow('a handler that signs the session out ends it for the handlers after it [P01]', async () => {
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

  plainRow('all fields of one operation that ask for a fresh session share one call, with the cache on and off [P01]', async () => {
    for (const [name, server] of Object.entries({ cached, uncached })) {
      for (const query of [
        '{ a: wipe b: wipe c: wipe }',
        'mutation { a: wipe b: wipe c: wipe }',
        '{ account { a: wipe b: wipe recentWipe } }',
      ]) {
        const token = service.signInAs({}, `${name}-${service.requests.length}`);
        for (const cache of ['cold', 'warm']) {
          const before = service.callsTo('user_details');
          expect(await ask({ query }, token, server)).toEqual({ data: expect.any(Object) as unknown });
          expect([name, cache, query, service.callsTo('user_details') - before]).toEqual([name, cache, query, 1]);
        }
      }
    }
  });
});

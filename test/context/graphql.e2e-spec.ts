import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from 'graphql-ws';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import { sessionContext } from 'nestjs-session-auth/context';
import { GRAPHQL_SERVERS, type GraphqlServer } from '../graphql/graphql-servers.js';
import { allOf, graphqlSocket, postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { NamesResolver } from '../graphql/names.resolver.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

async function ask(url: string, query: string, token?: string): Promise<unknown> {
  const reply = (await (await postGraphql(url, { query }, token)).json()) as GraphqlReply;
  return reply.errors ?? reply.data;
}

const names = Array.from({ length: 10 }, (_, index) => `user-${index}`);

describe.each(GRAPHQL_SERVERS)('the current user in an operation on %s', (_name, start) => {
  const clients: Client[] = [];
  let service: ScriptedService;
  let server: GraphqlServer;

  beforeAll(async () => {
    service = await startScriptedService();
    service.signInAs({}, 'good');
    server = await start(service.url, { withContext: true });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });
  afterAll(async () => {
    await server.close();
    await service.close();
  });

  const all = (query: string, token: string): Promise<unknown[]> => {
    const client = graphqlSocket(server.url, { token });
    clients.push(client);
    return allOf(client, query);
  };

  it('is available in a query, and absent without a session', async () => {
    expect(await ask(server.url, '{ name optionalName openName }', 'good')).toEqual({
      name: 'ann ann',
      optionalName: 'ann',
      openName: 'nobody',
    });
    expect(await ask(server.url, '{ optionalName openName }')).toEqual({
      optionalName: 'nobody',
      openName: 'nobody',
    });
  });

  it('is available in guarded fields, and not in public ones', async () => {
    const query = '{ things(count: 2) { owner laterOwner openOwner parts { owner laterOwner } } }';
    const thing = (id: number) => ({
      owner: 'ann',
      laterOwner: `ann ${id}`,
      openOwner: 'nobody',
      parts: [{ owner: 'ann', laterOwner: 'ann 7' }],
    });
    expect(await ask(server.url, query, 'good')).toEqual({ things: [thing(0), thing(1)] });
  });

  it('belongs to each of many concurrent operations, over HTTP and over sockets', async () => {
    for (const username of names) service.signInAs({ username }, username);
    const query = '{ name things(count: 3) { laterOwner } }';
    const expected = (name: string) => ({
      name: `${name} ${name}`,
      things: [0, 1, 2].map((id) => ({ laterOwner: `${name} ${id}` })),
    });
    expect(await Promise.all(names.map((name) => ask(server.url, query, name)))).toEqual(names.map(expected));
    expect(await Promise.all(names.map((name) => all(query, name)))).toEqual(
      names.map((name) => [expected(name)]),
    );
    const ticks = (name: string) => [{ names: `${name} 1` }, { names: `${name} 2` }];
    expect(await Promise.all(names.map((name) => all('subscription { names }', name)))).toEqual(
      names.map(ticks),
    );
  });
});

describe.each([[[]], [['interceptors' as const]], [['interceptors' as const, 'filters' as const]]])(
  'the current user in fields for which Nest runs %j only, and no guards',
  (fieldResolverEnhancers) => {
    const bed = testbed();
    let service: ScriptedService;
    let url: string;

    beforeEach(async () => {
      service = await bed.service();
      service.signInAs({}, 'good');
      const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        autoSchemaFile: true,
        graphiql: false,
        fieldResolverEnhancers,
      });
      const options = { plugins: [sessionContext], audit: 'off' as const };
      ({ url } = await bed.sample({
        baseUrl: service.url,
        options,
        imports: [graphql],
        controllers: [],
        providers: [NamesResolver],
      }));
    });

    it('is the user of the nearest guarded field above', async () => {
      const query =
        '{ things(count: 1) { owner laterOwner openOwner parts { owner laterOwner } } openThings { owner laterOwner } }';
      expect(await ask(url, query, 'good')).toEqual({
        things: [
          {
            owner: 'ann',
            laterOwner: 'ann 0',
            openOwner: 'nobody',
            parts: [{ owner: 'ann', laterOwner: 'ann 7' }],
          },
        ],
        openThings: [{ owner: 'nobody', laterOwner: 'nobody 0' }],
      });
    });

    it('belongs to each operation', async () => {
      for (const username of names) service.signInAs({ username }, username);
      const query = '{ things(count: 2) { laterOwner parts { owner } } }';
      const expected = (name: string) => ({
        things: [0, 1].map((id) => ({ laterOwner: `${name} ${id}`, parts: [{ owner: name }] })),
      });
      expect(await Promise.all(names.map((name) => ask(url, query, name)))).toEqual(names.map(expected));
    });
  },
);

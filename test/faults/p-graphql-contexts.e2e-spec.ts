import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { GRAPHQL_SERVERS, type GraphqlServer, type GraphqlSetup } from '../contexts/graphql-servers.js';
import type { ContextKind } from '../contexts/graphql-context-kinds.js';
import { CapturedLog } from '../support/captured-log.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { sendRaw } from '../support/raw-request.js';
import { hold, json, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { plainRow } from './row.js';

interface GraphqlReply {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly extensions?: { readonly code: string } }[];
}

/** Those that can be told apart for each request, and those that can't: there only the first caller may be served. */
const SERVED: readonly ContextKind[] = ['object', 'one object', 'one object, later', 'new objects'];
const NOT_SERVED: readonly ContextKind[] = ['the first request', 'an instance'];
const UNAUTHENTICATED = 'UNAUTHENTICATED';

describe.each(GRAPHQL_SERVERS)('contexts of GraphQL on %s', (name, start) => {
  const servers: GraphqlServer[] = [];
  let service: ScriptedService;
  beforeEach(async () => {
    service = await startScriptedService();
    for (const username of ['ann', 'bob']) service.signInAs({ username }, username);
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
    await service.close();
  });

  async function started(setup: GraphqlSetup): Promise<GraphqlServer> {
    const server = await start(service.url, setup);
    servers.push(server);
    return server;
  }

  async function ask(url: string, query: string, token?: string): Promise<unknown> {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) };
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { data, errors } = (await response.json()) as GraphqlReply;
    return errors?.[0] ? (errors[0].extensions?.code ?? errors) : data;
  }

  const me = (username: string): unknown => ({ me: `${username} ${username}` });

  plainRow('P08', 'each caller is served as itself, whether requests share a context or not', async () => {
    const { urls } = await started({ contexts: SERVED });
    for (const [index, context] of SERVED.entries()) {
      const server = urls[index] ?? '';
      await ask(server, '{ resolved }', 'ann');
      expect([context, await ask(server, '{ me }')]).toEqual([context, UNAUTHENTICATED]);
      expect([context, await ask(server, '{ me }', 'bob')]).toEqual([context, me('bob')]);
      expect([context, await ask(server, '{ me }', 'ann')]).toEqual([context, me('ann')]);
    }
  });

  plainRow('P08', 'a context that names another request, or that can not be copied, serves nobody as another', async () => {
    const { urls } = await started({ contexts: NOT_SERVED });
    for (const [index, context] of NOT_SERVED.entries()) {
      const server = urls[index] ?? '';
      expect([context, await ask(server, '{ me }', 'ann')]).toEqual([context, me('ann')]);
      for (const [token, own] of [
        [undefined, UNAUTHENTICATED],
        ['bob', me('bob')],
      ] as const) {
        expect([context, [UNAUTHENTICATED, own]]).toEqual([context, expect.arrayContaining([await ask(server, '{ me }', token)])]);
      }
    }
  });

  plainRow('P08', 'a caller of the same time, and one whose request nobody checks, lend their sessions to none', async () => {
    const contexts = [...SERVED, ...NOT_SERVED];
    const { urls } = await started({ contexts });
    for (const [index, context] of contexts.entries()) {
      const server = urls[index] ?? '';
      const held = hold(json({ username: 'ann' }));
      service.on('user_details', held.script);
      const first = ask(server, '{ me }', 'ann');
      await held.arrived;
      const strangers = await Promise.all([ask(server, '{ me }'), ask(server, '{ openings(count: 2) { owner } }')]);
      held.release();

      expect([context, strangers]).toEqual([context, [UNAUTHENTICATED, UNAUTHENTICATED]]);
      expect([me('ann'), UNAUTHENTICATED]).toContainEqual(await first);
    }
  });

  plainRow('P16', 'a bare Upgrade header changes nothing: user, Vary, no-store and one check', async () => {
    const { url } = await started({});
    const upgrades = [[], ['Upgrade: websocket'], ['Upgrade: WebSocket'], ['Upgrade: h2c']];
    for (const upgrade of upgrades) {
      service.requests.length = 0;
      const { status, headers, body } = await sendRaw(url, {
        method: 'POST',
        path: '/graphql',
        lines: ['X-Auth-Token: bob', ...upgrade],
        body: JSON.stringify({ query: '{ me openings(count: 20) { owner } }' }),
      });

      expect([upgrade, status, (JSON.parse(body) as GraphqlReply).data?.me]).toEqual([upgrade, 200, 'bob bob']);
      expect(headers.get('vary')?.toLowerCase()).toContain('x-auth-token');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(service.callsTo('user_details')).toBe(1);
    }
  });

  // Mercurius runs in a process of its own.
  if (name.startsWith('Mercurius')) return;

  plainRow('P08', 'the audit names a context that Nest gives to all requests, and a function that does', async () => {
    const [object, fresh, repeated] = [new CapturedLog(), new CapturedLog(), new CapturedLog()];
    await started({ contexts: ['object'], logger: object });
    await started({ contexts: ['new objects'], logger: fresh });
    const { url } = await started({ contexts: ['one object'], logger: repeated });
    for (const token of ['ann', 'bob', 'ann']) await ask(url, '{ me }', token);

    expect(object.having('warn', 'audit: GraphQLModule has one object as its context')).toHaveLength(NEST_MAJOR === 11 ? 1 : 0);
    expect(repeated.having('warn', 'audit: the context function of GraphQLModule returns one object')).toHaveLength(1);
    expect(fresh.having('warn', 'audit: ')).toEqual([]);
  });
});

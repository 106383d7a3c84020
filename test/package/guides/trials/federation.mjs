import { deepEqual } from 'node:assert/strict';
import { SessionAuthModule } from 'nestjs-session-auth';
import { graphql } from '../dist/graphql/subgraph/graphql.js';
import { OpeningsResolver } from '../dist/graphql/subgraph/openings.resolver.js';
import { listening, trial, underTest } from './support.mjs';

const ENTITY = '_entities(representations: [{ __typename: "Opening", id: "1" }]) { ... on Opening';

await trial('federation', async () => {
  const auth = SessionAuthModule.forRoot({
    baseUrl: 'https://sessions.example.com/api',
    apiKey: 'your-application-key',
    audit: 'error',
  });
  const root = { module: class {}, imports: [auth, graphql], providers: [OpeningsResolver] };
  const { sessions, moduleRef } = await underTest(root);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const query = async (text, headers) => {
    const body = JSON.stringify({ query: text });
    return (
      await ask('/graphql', { 'content-type': 'application/json', ...headers }, { method: 'POST', body })
    ).json();
  };
  const codesIn = ({ errors }) => errors.map(({ extensions }) => extensions.code);

  const manager = sessions.signInAs({ role: 'hiring_manager' });
  const seen = await query(`{ ${ENTITY} { title salary link } } }`, manager);
  deepEqual(seen.data, {
    _entities: [{ title: 'Engineer', salary: 'much', link: 'https://example.com/openings' }],
  });

  const inPart = await query(`{ ${ENTITY} { salary } } }`, sessions.signInAs({ role: 'new_hire' }));
  deepEqual([inPart.data, codesIn(inPart)], [{ _entities: [{ salary: null }] }, ['FORBIDDEN']]);

  deepEqual(codesIn(await query(`{ ${ENTITY} { title } } }`, {})), ['UNAUTHENTICATED']);
  deepEqual(codesIn(await query('{ openings { title } }', {})), ['UNAUTHENTICATED']);
  await app.close();
});

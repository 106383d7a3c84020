import { deepEqual } from 'node:assert/strict';
import { graphql } from '../dist/graphql/subgraph/graphql.js';
import { OpeningsResolver } from '../dist/graphql/subgraph/openings.resolver.js';
import { sessionAuth, start, trial } from './support.mjs';

const ENTITY = '_entities(representations: [{ __typename: "Opening", id: "1" }]) { ... on Opening';

await trial('federation', async () => {
  const root = { imports: [sessionAuth({ audit: 'error' }), graphql], providers: [OpeningsResolver] };
  const { sessions, post } = await start(root);
  const query = async (text, headers) => (await post('/graphql', { query: text }, headers)).json();
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
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import { PLATFORMS, startApp, type Platform } from '../support/platforms.js';
import { compileProgram } from '../support/program.js';
import { sampleApp } from '../support/sample-app.js';
import { transpile } from '../support/transpile.js';
import { OpeningsResolver } from './openings.resolver.js';

/** A GraphQL server with the resolvers of {@link OpeningsResolver}, guarded. */
export interface GraphqlServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The GraphQL servers that Nest has drivers for, each on what it runs on. */
export const GRAPHQL_SERVERS: readonly (readonly [name: string, start: (baseUrl: string) => Promise<GraphqlServer>])[] = [
  ...PLATFORMS.map(([name, platform]) => [`Apollo on ${name}`, (baseUrl: string) => startApollo(platform, baseUrl)] as const),
  ['Mercurius on Fastify', startMercurius],
];

function startApollo(platform: Platform, baseUrl: string): Promise<GraphqlServer> {
  const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    graphiql: false,
    allowBatchedHttpRequests: true,
    fieldResolverEnhancers: ['guards'],
    subscriptions: { 'graphql-ws': true },
  });
  return startApp(platform, sampleApp({ baseUrl, imports: [graphql], controllers: [], providers: [OpeningsResolver] }));
}

/** In a process of its own: Jest can't load what Mercurius is made of. */
async function startMercurius(baseUrl: string): Promise<GraphqlServer> {
  const program = await compileProgram(join(import.meta.dirname, 'mercurius.process.ts'));
  await transpile(join(import.meta.dirname, 'openings.resolver.ts'), join(dirname(program.file), 'openings.resolver.js'));
  const child = fork(program.file, [baseUrl]);
  const exit = once(child, 'exit');
  const ended = exit.then(() => Promise.reject(new Error('The server ended before it listened')));
  const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
  return {
    url,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
      await program.remove();
    },
  };
}

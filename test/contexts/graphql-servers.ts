import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import { PLATFORMS, startApp, type Platform } from '../support/platforms.js';
import { compileProgram } from '../support/program.js';
import { sampleApp } from '../support/sample-app.js';
import { transpile } from '../support/transpile.js';
import { OpeningsResolver } from './openings.resolver.js';
import { WipingResolver } from './wiping.resolver.js';

/** A GraphQL server with the resolvers of {@link OpeningsResolver}, guarded. */
export interface GraphqlServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server. Its options can be written as JSON. */
type Start = (baseUrl: string, options?: Partial<SessionAuthOptions>) => Promise<GraphqlServer>;

/** The GraphQL servers that Nest has drivers for, each on what it runs on. */
export const GRAPHQL_SERVERS: readonly (readonly [name: string, start: Start])[] = [
  ...PLATFORMS.map(([name, platform]): [string, Start] => [
    `Apollo on ${name}`,
    (baseUrl: string, options: Partial<SessionAuthOptions> = {}): Promise<GraphqlServer> => startApollo(platform, baseUrl, options),
  ]),
  ['Mercurius on Fastify', startMercurius],
];

function startApollo(platform: Platform, baseUrl: string, options: Partial<SessionAuthOptions>): Promise<GraphqlServer> {
  const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    graphiql: false,
    allowBatchedHttpRequests: true,
    fieldResolverEnhancers: ['guards'],
    subscriptions: { 'graphql-ws': true },
  });
  return startApp(
    platform,
    sampleApp({ baseUrl, options, imports: [graphql], controllers: [], providers: [OpeningsResolver, WipingResolver] }),
  );
}

/** In a process of its own: Jest can't load what Mercurius is made of. */
async function startMercurius(baseUrl: string, options: Partial<SessionAuthOptions> = {}): Promise<GraphqlServer> {
  const program = await compileProgram(join(import.meta.dirname, 'mercurius.process.ts'));
  for (const resolver of ['openings', 'wiping'])
    await transpile(join(import.meta.dirname, `${resolver}.resolver.ts`), join(dirname(program.file), `${resolver}.resolver.js`));
  const child = fork(program.file, [baseUrl, JSON.stringify(options)]);
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

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import type { DynamicModule, LoggerService } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { platforms, startApp, type Platform, type RunningApp } from '../support/platforms.js';
import { compileProgram } from '../support/program.js';
import { sampleApp } from '../support/sample-app.js';
import { transpile } from '../support/transpile.js';
import { contextOption, type ContextKind } from './graphql-context-kinds.js';
import { OpeningsResolver } from './openings.resolver.js';
import { partnersModule, RoomsResolver } from './rooms.resolver.js';
import { WipingResolver } from './wiping.resolver.js';

/** A GraphQL server with the resolvers of {@link OpeningsResolver}, guarded. */
export interface GraphqlServer {
  readonly url: string;
  /** One for each of the `contexts`. */
  readonly urls: readonly string[];
  close(): Promise<void>;
}

/** Settings of a GraphQL server in a test. */
interface GraphqlSetup {
  /** The `context` option, of an application each. */
  readonly contexts?: readonly ContextKind[];
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  readonly logger?: LoggerService;
  /**
   * Base URL of a second session service: adds its module, which reads `x-partner-token`, and
   * {@link RoomsResolver}.
   */
  readonly partnersUrl?: string;
}

const DEFAULT: readonly ContextKind[] = ['default'];

type Start = (baseUrl: string, setup?: GraphqlSetup) => Promise<GraphqlServer>;

const startApollo =
  (platform: Platform): Start =>
  async (baseUrl, { contexts = DEFAULT, options = {}, logger, partnersUrl } = {}) => {
    const apps: RunningApp[] = [];
    for (const context of contexts) {
      const imports = [
        apolloWith(context),
        ...(partnersUrl === undefined ? [] : [partnersModule(partnersUrl)]),
      ];
      const providers = [
        OpeningsResolver,
        WipingResolver,
        ...(partnersUrl === undefined ? [] : [RoomsResolver]),
      ];
      const root = sampleApp({ baseUrl, options, imports, controllers: [], providers });
      apps.push(await startApp(platform, root, { ...(logger && { logger }) }));
    }
    const urls = apps.map(({ url }) => url);
    return {
      url: urls[0] ?? '',
      urls,
      close: () => Promise.all(apps.map((app) => app.close())).then(() => undefined),
    };
  };

function apolloWith(context: ContextKind): DynamicModule {
  return GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    ...(context !== 'default' && { context: contextOption(context) }),
    autoSchemaFile: true,
    graphiql: false,
    allowBatchedHttpRequests: true,
    fieldResolverEnhancers: ['guards'],
    subscriptions: { 'graphql-ws': true },
  });
}

/** The GraphQL servers that Nest has drivers for, each on its HTTP platforms. */
export const GRAPHQL_SERVERS: readonly (readonly [name: string, start: Start])[] = [
  ...platforms('Express').map(([name, platform]): [string, Start] => [
    `Apollo on ${name}`,
    startApollo(platform),
  ]),
  ['Mercurius on Fastify', startMercurius],
];

/** In a separate process: Jest can't load the dependencies of Mercurius. */
async function startMercurius(
  baseUrl: string,
  { contexts = [], options = {}, partnersUrl }: GraphqlSetup = {},
): Promise<GraphqlServer> {
  const program = await compileProgram(join(import.meta.dirname, 'mercurius.process.ts'));
  for (const part of ['openings.resolver', 'rooms.resolver', 'wiping.resolver', 'graphql-context-kinds'])
    await transpile(join(import.meta.dirname, `${part}.ts`), join(dirname(program.file), `${part}.js`));
  const child = fork(program.file, [baseUrl, JSON.stringify({ options, partnersUrl }), ...contexts]);
  const exit = once(child, 'exit');
  const ended = exit.then(() => Promise.reject(new Error('The server ended before it listened')));
  const [urls] = (await Promise.race([once(child, 'message'), ended])) as [string[]];
  return {
    url: urls[0] ?? '',
    urls,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
      await program.remove();
    },
  };
}

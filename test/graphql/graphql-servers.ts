import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import type { DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { platforms, startApp, type Platform, type RunningApp } from '../support/platforms.js';
import { compileProgram, type CompiledProgram } from '../support/program.js';
import { sampleApp } from '../support/sample-app.js';
import { transpile } from '../support/transpile.js';
import { contextOption, type ContextKind } from './graphql-context-kinds.js';
import type { MercuriusOrder } from './mercurius.process.js';
import { OpeningsResolver, WITH_COOKIE } from './openings.resolver.js';
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
  /**
   * Base URL of a second session service: adds its module, which reads `x-partner-token`, and
   * {@link RoomsResolver}.
   */
  readonly partnersUrl?: string;
  /** Whether it reads the token from a cookie too. */
  readonly hasCookie?: boolean;
  /** Whether the application copies what a client sends to the headers of its upgrade (Apollo). */
  readonly copiesParams?: boolean;
}

const DEFAULT: readonly ContextKind[] = ['default'];
/** More than a busy machine takes, as in a sample application. */
const PATIENT = { timeoutMs: 30_000 };

type Start = (baseUrl: string, setup?: GraphqlSetup) => Promise<GraphqlServer>;

const startApollo =
  (platform: Platform): Start =>
  async (baseUrl, { contexts = DEFAULT, options = {}, partnersUrl, hasCookie, copiesParams } = {}) => {
    const apps: RunningApp[] = [];
    for (const context of contexts) {
      const rooms = partnersUrl === undefined ? [] : [RoomsResolver];
      const imports = [
        apolloWith(context, copiesParams),
        ...rooms.map(() => partnersModule(partnersUrl ?? '')),
      ];
      const providers = [OpeningsResolver, WipingResolver, ...rooms];
      const root = sampleApp({
        baseUrl,
        options: { ...options, ...(hasCookie && WITH_COOKIE) },
        imports,
        controllers: [],
        providers,
      });
      apps.push(await startApp(platform, root));
    }
    const urls = apps.map(({ url }) => url);
    return {
      url: urls[0] ?? '',
      urls,
      close: () => Promise.all(apps.map((app) => app.close())).then(() => undefined),
    };
  };

interface Connection {
  readonly extra: { readonly request: { readonly headers: object } };
  readonly connectionParams?: object;
}

const COPYING = {
  onConnect: ({ extra, connectionParams }: Connection) =>
    void Object.assign(extra.request.headers, connectionParams),
};

function apolloWith(context: ContextKind, copiesParams = false): DynamicModule {
  return GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    ...(context !== 'default' && { context: contextOption(context) }),
    autoSchemaFile: true,
    graphiql: false,
    allowBatchedHttpRequests: true,
    fieldResolverEnhancers: ['guards'],
    subscriptions: { 'graphql-ws': copiesParams ? (COPYING as object) : true },
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

/** Servers in a separate process, one for all of a suite: Jest can't load the dependencies of Mercurius. */
class MercuriusProcess {
  #program: CompiledProgram | undefined;
  #running: Promise<{ readonly child: ChildProcess; readonly ended: Promise<never> }> | undefined;
  #orders = 0;

  async start(order: Omit<MercuriusOrder, 'id'>): Promise<readonly string[]> {
    const id = (this.#orders += 1);
    const { child, ended } = await (this.#running ??= this.#fork());
    const started = new Promise<readonly string[]>((resolve) => {
      child.on('message', (answer: { readonly id: number; readonly urls: readonly string[] }) => {
        if (answer.id === id) resolve(answer.urls);
      });
    });
    child.send({ ...order, id });
    return Promise.race([started, ended]);
  }

  async end(): Promise<void> {
    const running = await this.#running;
    running?.child.kill('SIGKILL');
    await running?.ended.catch(() => undefined);
    await this.#program?.remove();
  }

  async #fork() {
    this.#program = await compileProgram(join(import.meta.dirname, 'mercurius.process.ts'));
    const folder = dirname(this.#program.file);
    for (const part of ['openings.resolver', 'rooms.resolver', 'wiping.resolver', 'graphql-context-kinds'])
      await transpile(join(import.meta.dirname, `${part}.ts`), join(folder, `${part}.js`));
    const child = fork(this.#program.file);
    const ended = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`The process of the servers ended: ${code}`)),
    );
    ended.catch(() => undefined);
    return { child, ended };
  }
}

const mercurius = new MercuriusProcess();
afterAll(() => mercurius.end());

async function startMercurius(
  baseUrl: string,
  { contexts = DEFAULT, options = {}, partnersUrl, hasCookie = false }: GraphqlSetup = {},
): Promise<GraphqlServer> {
  const urls = await mercurius.start({
    ...{ baseUrl, contexts, options: { ...PATIENT, ...options }, hasCookie },
    ...(partnersUrl !== undefined && { partnersUrl }),
  });
  // They end with their process.
  return { url: urls[0] ?? '', urls, close: () => Promise.resolve() };
}

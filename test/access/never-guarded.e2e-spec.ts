import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApolloFederationDriver, type ApolloFederationDriverConfig } from '@nestjs/apollo';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Public } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { importFromGuide, type GuideCode } from '../support/guide-code.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

type GuardPath = (app: INestApplication, path: string, role: string) => void;

@Controller()
class OpeningsController {
  @Get('openings')
  openings(): string {
    return 'openings';
  }

  @Get('health')
  @Public()
  health(): string {
    return 'ok';
  }
}

@Resolver()
class OpeningsResolver {
  @Query(() => String)
  openings(): string {
    return 'openings';
  }
}

describe.each(PLATFORMS)('with protectAllRoutes on %s', (name, platform) => {
  const bed = testbed(platform);
  /** Paths that no handler answers. Jest can't load the package for files on Fastify. */
  const hasFiles = name === 'Express';
  const open = [
    '/docs-json',
    '/mounted/anything',
    '/adapter',
    ...(hasFiles ? ['/docs', '/files/open.txt'] : []),
  ];
  let folder: string;
  let guide: GuideCode<{ readonly guardPath: GuardPath }>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'static-'));
    await writeFile(join(folder, 'open.txt'), 'a file');
    guide = await importFromGuide<typeof guide.module>('context.md', 'src/guard-path.ts');
  });
  afterAll(() => Promise.all([rm(folder, { recursive: true }), guide.remove()]));

  const mount = (nest: INestApplication): void => {
    nest.enableCors();
    SwaggerModule.setup(
      'docs',
      nest,
      () => SwaggerModule.createDocument(nest, new DocumentBuilder().build()),
      { ui: hasFiles },
    );
    nest.use('/mounted', (_request: unknown, reply: ServerResponse) => reply.end('mounted'));
    nest
      .getHttpAdapter()
      .get('/adapter', (_request: unknown, reply: { send(text: string): void }) => reply.send('adapter'));
    if (hasFiles) (nest as NestExpressApplication).useStaticAssets(folder, { prefix: '/files' });
  };

  const start = async (
    configure: (nest: INestApplication) => void,
    graphql?: { readonly introspection: boolean },
  ): Promise<{ app: RunningApp; token: (role: string) => string }> => {
    const service = await bed.service();
    const federation = {
      driver: ApolloFederationDriver,
      autoSchemaFile: { federation: 2 as const },
      graphiql: false,
      ...graphql,
    };
    const app = await bed.sample(
      {
        baseUrl: service.url,
        options: { protectAllRoutes: true },
        controllers: [OpeningsController],
        ...(graphql && {
          imports: [GraphQLModule.forRoot<ApolloFederationDriverConfig>(federation)],
          providers: [OpeningsResolver],
        }),
      },
      { configure },
    );
    return { app, token: (role) => service.signInAs({ role }) };
  };

  it('handlers are guarded, and paths without a handler are open', async () => {
    const { app } = await start(mount);
    const statuses = async (...paths: string[]) =>
      Promise.all(paths.map((path) => always(async () => (await app.get(path)).status)));

    expect(await statuses('/openings', '/health', '/unknown')).toEqual([401, 200, 404]);
    expect(await statuses(...open)).toEqual(open.map(() => 200));
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://other.example', 'access-control-request-method': 'GET' },
    };
    expect((await fetch(`${app.url}/openings`, preflight)).status).toBe(204);
  });

  it('the guardPath of the guide guards paths without a handler', async () => {
    const { app, token } = await start((nest) => {
      for (const path of ['/docs', '/docs-json', '/files', '/mounted', '/adapter'])
        guide.module.guardPath(nest, path, 'hiring_manager');
      mount(nest);
    });
    const [manager, newHire] = [token('hiring_manager'), token('new_hire')];
    for (const path of open) {
      const replies = await Promise.all(
        [undefined, 'bad', newHire, manager].map((presented) => app.get(path, presented)),
      );
      expect([path, replies.map(({ status }) => status)]).toEqual([path, [401, 401, 403, 200]]);
    }
  });

  it.each([true, false])(
    'the schema of a subgraph is open, and its resolvers are not, with introspection: %s',
    async (introspection) => {
      const { app } = await start(() => undefined, { introspection });
      const ask = async (query: string): Promise<unknown> => {
        const request = {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        };
        return (await fetch(`${app.url}/graphql`, request)).json();
      };

      const schema = { data: { __schema: { queryType: { name: 'Query' } } } };
      const refused = { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] };
      expect(await ask('{ __schema { queryType { name } } }')).toMatchObject(
        introspection ? schema : refused,
      );
      expect(await ask('{ _service { sdl } }')).toMatchObject({
        data: { _service: { sdl: expect.stringContaining('openings: String!') } },
      });
      expect(await always(() => ask('{ openings }'))).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
    },
  );
});

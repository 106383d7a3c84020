import type { Files } from './nest-add.js';

export const MODULE = 'src/app.module.ts';

/** A project as `nest new` lays it out, with its root module as it is given. */
export function projectWith(module: string, others: Files = {}): Files {
  return { ...emptyProject({}), 'src/main.ts': main('./app.module.js'), [MODULE]: module, ...others };
}

export function emptyProject(manifest: object): Files {
  return {
    'package.json': `${JSON.stringify({ name: 'app', dependencies: { '@nestjs/core': '^12.0.0' }, ...manifest }, undefined, 2)}\n`,
    'nest-cli.json': '{ "collection": "@nestjs/schematics", "sourceRoot": "src" }',
  };
}

export function main(from: string, root = 'AppModule'): string {
  const name = root.split('.', 1)[0] ?? root;
  return `import { NestFactory } from '@nestjs/core';
import { ${name} } from '${from}';

async function bootstrap() {
  const app = await NestFactory.create(${root});
  await app.listen(3000);
}
void bootstrap();
`;
}

/** The root module of `nest new`, with another argument of its decorator. */
export function moduleWith(metadata: string, imports = '', name = 'AppModule'): string {
  return `import { Module } from '@nestjs/common';
${imports}
@Module(${metadata})
export class ${name} {}
`;
}

/** The entries that the schematic adds, as they stand in a module with two blanks of indentation. */
export const SESSION_AUTH = `    SessionAuthModule.forRootAsync({
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        baseUrl: config.getOrThrow<string>('SESSION_SERVICE_URL'),
        apiKey: config.getOrThrow<string>('SESSION_SERVICE_API_KEY'),
      }),
      protectAllRoutes: true,
    }),
`;
export const BOTH = `    ConfigModule.forRoot(),\n${SESSION_AUTH}`;
export const IMPORTS = `import { ConfigModule, ConfigService } from '@nestjs/config';
import { SessionAuthModule } from 'nestjs-session-auth';
`;

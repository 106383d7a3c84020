// The files of `nest new` that `nest add` and a first start need.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Each is laid out, gets the package by `nest add` with the options, and is started. */
export const NEST_APPS = [
  { name: 'NestJS 12, ES modules', type: 'module', major: 12, typescript: '^6.0.2', options: [] },
  {
    name: 'NestJS 11, CommonJS',
    type: 'commonjs',
    major: 11,
    typescript: '~5.7.3',
    options: ['--protect-all-routes'],
  },
];

const MAIN = (extension) => `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${extension}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
  console.log('listening on ' + (await app.getUrl()));
}
void bootstrap();
`;
const MODULE = (extension) => `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${extension}';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [],
})
export class AppModule {}
`;
const CONTROLLER = `import { Controller, Get } from '@nestjs/common';

@Controller()
export class AppController {
  @Get()
  getHello(): string {
    return 'Hello World!';
  }
}
`;
/** The controller, changed as the last lines of the command's output say. */
export const GUARDED_CONTROLLER = CONTROLLER.replace(
  "'@nestjs/common';",
  "'@nestjs/common';\nimport { SessionAuthGuard } from 'nestjs-session-auth';",
)
  .replace('Controller, Get', 'Controller, Get, UseGuards')
  .replace('@Controller()', '@UseGuards(SessionAuthGuard)\n@Controller()');

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'ES2023',
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
};

function manifest({ type, major, typescript }) {
  const nest = Object.fromEntries(
    ['common', 'core', 'platform-express'].map((name) => [`@nestjs/${name}`, `^${major}.0.0`]),
  );
  return {
    name: 'nest-app',
    private: true,
    type,
    dependencies: { ...nest, 'reflect-metadata': '^0.2.2', rxjs: '^7.8.1' },
    devDependencies: { '@nestjs/cli': `^${major}.0.0`, '@types/node': '^20.19.0', typescript },
  };
}

/** Writes an application, not yet installed, into a folder. */
export function layOutNestApp(app, folder) {
  const extension = app.type === 'module' ? '.js' : '';
  const files = {
    'package.json': manifest(app),
    'nest-cli.json': { collection: '@nestjs/schematics', sourceRoot: 'src' },
    'tsconfig.json': TSCONFIG,
    'src/main.ts': MAIN(extension),
    'src/app.module.ts': MODULE(extension),
    'src/app.controller.ts': CONTROLLER,
  };
  for (const [path, content] of Object.entries(files)) write(join(folder, path), content);
}

function write(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 2)}\n`);
}

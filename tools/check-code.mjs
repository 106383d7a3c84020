// Type-checks every TypeScript block of the README and of docs/, and every example of the API reference, each as a
// file of its own, against the types of the built library.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiExamples } from './api-examples.mjs';
import { codeBlocks, programsOf } from './code-blocks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/docs-code');
/** Globals of a test runner. */
const RUNNER = ['afterAll', 'afterEach', 'beforeAll', 'describe', 'expect', 'it'];

/** A package that every new Nest application has, and this repository does not. */
const SUPERTEST = `declare module 'supertest' {
  interface Test extends Promise<{ status: number; body: any }> {
    set(headers: object): Test;
    set(name: string, value: string): Test;
    send(body: object): Test;
    expect(status: number): Test;
  }
  export default function request(server: unknown): Record<'get' | 'post', (path: string) => Test>;
}
`;

/**
 * The used part of CASL, which only a guide uses. The trial of the guide compiles with the package itself.
 */
const CASL = `declare module '@casl/ability' {
  export interface ForcedSubject<Name> { readonly __caslSubjectType__: Name }
  export interface MongoAbility<Pair extends [unknown, unknown]> { can(action: Pair[0], subject: Pair[1]): boolean }
  export class AbilityBuilder<Ability> {
    constructor(create: unknown);
    can(action: string, subject: string, conditions?: object): void;
    build(): Ability;
  }
  export const createMongoAbility: unknown;
  export function subject<Name extends string, Value extends object>(name: Name, value: Value): Value & ForcedSubject<Name>;
}
`;

/**
 * The used part of @nestjs/throttler and of its storage, which only a guide uses. The trial of the guide
 * compiles with the packages themselves.
 */
const THROTTLER = `declare module '@nestjs/throttler' {
  export class ThrottlerGuard {
    canActivate(context: import('@nestjs/common').ExecutionContext): Promise<boolean>;
    protected generateKey(context: import('@nestjs/common').ExecutionContext, suffix: string, name: string): string;
  }
  export class ThrottlerModule {
    static forRootAsync(options: { useFactory: () => { throttlers: object[]; storage: object } }): import('@nestjs/common').DynamicModule;
  }
}
declare module '@nest-lab/throttler-storage-redis' {
  export class ThrottlerStorageRedisService { constructor(url: string, options: object) }
}
`;

/** The used part of BullMQ, which only a guide uses. The trial of the guide compiles with the package itself. */
const BULLMQ = `declare module 'bullmq' {
  interface Options { connection: { url: string } }
  export class Queue<Data> {
    constructor(name: string, options: Options);
    add(name: string, data: Data, options: { attempts: number; backoff: { type: string; delay: number }; removeOnComplete: boolean; removeOnFail: boolean }): Promise<{ id?: string }>;
    close(): Promise<void>;
  }
  export class Worker<Data> {
    constructor(name: string, run: (job: { data: Data }) => Promise<void>, options: Options);
    close(): Promise<void>;
  }
  export class UnrecoverableError extends Error {}
}
`;

/** The same of Vitest. */
const VITEST = `declare module 'vitest' {
  export const vi: {
    useFakeTimers(options: { toFake: string[] }): void;
    advanceTimersByTime(ms: number): void;
    useRealTimers(): void;
  };
}
`;

/** The same of @rekog/mcp-nest. */
const MCP = `declare module '@rekog/mcp-nest' {
  export function McpController(): ClassDecorator;
  export function McpHttpControllerFor(transport: StreamableHttpTransport): new () => object;
  export class McpStrategy { constructor(options: { name: string; version: string; transports: StreamableHttpTransport[] }); }
  export class StreamableHttpTransport { readonly endpoint: string; }
  export function Tool(options: { name: string; description: string }): MethodDecorator;
}
`;

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const examples = apiExamples(target);
const blocks = [...codeBlocks().filter(({ language }) => language === 'ts'), ...examples];
for (const { file, code } of blocks) {
  mkdirSync(join(target, dirname(file)), { recursive: true });
  writeFileSync(join(target, file), `import 'reflect-metadata';\n${code}\nexport {};\n`);
}
const globals = RUNNER.map((name) => `  const ${name}: typeof import('@jest/globals').${name};\n`).join('');
writeFileSync(join(target, 'supertest.d.ts'), SUPERTEST);
writeFileSync(join(target, 'casl.d.ts'), CASL);
writeFileSync(join(target, 'throttler.d.ts'), THROTTLER);
writeFileSync(join(target, 'bullmq.d.ts'), BULLMQ);
writeFileSync(join(target, 'mcp.d.ts'), MCP);
writeFileSync(join(target, 'vitest.d.ts'), VITEST);
writeFileSync(join(target, 'runner.d.ts'), `declare global {\n${globals}}\nexport {};\n`);
for (const files of programsOf(blocks)) {
  writeFileSync(
    join(target, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        paths: {},
        strictPropertyInitialization: false,
      },
      files: [
        ...files,
        'bullmq.d.ts',
        'casl.d.ts',
        'mcp.d.ts',
        'throttler.d.ts',
        'runner.d.ts',
        'supertest.d.ts',
        'vitest.d.ts',
      ],
      include: [],
      exclude: [],
    }),
  );
  execFileSync('npx', ['tsc', '-p', target], { cwd: root, stdio: 'inherit' });
}
console.log(
  `${blocks.length - examples.length} code blocks of the documentation and ${examples.length} examples of the API compile`,
);

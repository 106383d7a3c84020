// The examples of the API reference, `@example` in the comments of the library, as modules of TypeScript.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const library = join(root, 'libs/session-auth/src');
const NAME = 'nestjs-session-auth';
const PACKAGES = [
  '@nestjs/common',
  '@nestjs/swagger',
  '@nestjs/testing',
  '@nestjs/websockets',
  '@jest/globals',
  'ioredis',
  'socket.io',
];
/** The application that an example belongs to. */
const APPLICATION = `declare const app: import('@nestjs/common').INestApplication;
declare class AppModule {}
`;

/**
 * Returns each example, with the imports that it leaves out.
 * @param {string} folder - of the modules
 * @returns {{ file: string, code: string, language: 'ts' }[]}
 */
export function apiExamples(folder) {
  const sources = readdirSync(library, { recursive: true }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
  );
  const examples = sources.flatMap(examplesIn);
  if (examples.length === 0) throw new Error('no example of the API was found');
  const exported = readExports(folder);
  return examples.map(({ file, text }) => {
    const names = [...new Set(text.match(/[A-Za-z_]\w*/g))].filter((name) => exported.has(name));
    const imports = names.map((name) => `import ${exported.get(name).replace('*', name)};\n`).join('');
    return { file, language: 'ts', code: `${imports}${APPLICATION}${text}` };
  });
}

function examplesIn(source) {
  const comments = readFileSync(join(library, source), 'utf8').match(/^ *\/\*\*$[^]*?^ *\*\/$/gm) ?? [];
  const blocks = comments.flatMap((comment) => [
    ...comment.replace(/^ *\* ?/gm, '').matchAll(/(.*)\n```(.*)\n([^]*?)^```$/gm),
  ]);
  return blocks.map(([, before, language, text], index) => {
    if (before !== '@example' || language !== 'ts')
      throw new Error(`${source} has code that is no example: write @example, and below it \`\`\`ts`);
    // An editor reads it as the next tag of the comment, and shows half of the example.
    if (/^\s*@/m.test(text)) throw new Error(`${source} has an example with a line that begins with @`);
    return { file: `api/${source.replace(/\.ts$/, '')}/block-${index + 1}.ts`, text };
  });
}

/** Returns how each exported name is imported, with `*` in its place. The first that exports it provides it. */
function readExports(folder) {
  const entries = ['', ...readdirSync(library).map((name) => `/${name}`)]
    .filter((entry) => existsSync(`${library}${entry}/index.ts`))
    .map((entry) => `${NAME}${entry}`);
  const modules = [...entries, ...PACKAGES];
  const file = join(folder, 'exports.ts');
  writeFileSync(file, modules.map((name) => `import '${name}';\n`).join(''));
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  });
  const checker = program.getTypeChecker();
  const exported = program.getSourceFile(file).statements.flatMap(({ moduleSpecifier }, index) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(moduleSpecifier)).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const type = target.flags & ts.SymbolFlags.Value ? '' : 'type ';
      return [symbol.name, `{ ${type}* } from '${modules[index]}'`];
    }),
  );
  return new Map(exported.reverse());
}

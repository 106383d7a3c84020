// TypeScript as JavaScript, file by file: the transform of Jest, and the source of the tests' programs. Kept
// by content, because each worker of Jest, and each program, needs the whole library.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const load = createRequire(import.meta.url);
const CACHE = fileURLToPath(new URL('../dist/transpiled', import.meta.url));
const { version } = load('typescript/package.json');

const OPTIONS = {
  module: 'esnext',
  target: 'es2023',
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  strict: true,
  sourceMap: true,
};

/** Transpiles a source. The map names no file: those with equal contents share it. */
export function transpiled(text) {
  const kept = `${CACHE}/${digest(text)}`;
  try {
    return JSON.parse(readFileSync(kept, 'utf8'));
  } catch {
    const output = transpile(text);
    put(kept, JSON.stringify(output));
    return output;
  }
}

function transpile(text) {
  // Loaded only where it is needed, because it takes seconds.
  const ts = load('typescript');
  const { options: compilerOptions } = ts.convertCompilerOptionsFromJson(OPTIONS, '.');
  const { outputText, sourceMapText } = ts.transpileModule(text, { compilerOptions });
  return {
    code: outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'),
    map: JSON.parse(sourceMapText),
  };
}

function digest(text) {
  return createHash('sha256')
    .update(`${version}\n${JSON.stringify(OPTIONS)}\n${text}`)
    .digest('hex');
}

/** Writes a file atomically: another worker may read or write the same one. */
function put(path, text) {
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${path}.${randomUUID()}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}

export default {
  getCacheKey: (text, path) => digest(`${path}\n${text}`),
  process(text, path) {
    const { code, map } = transpiled(text);
    return { code, map: { ...map, sources: [path] } };
  },
};

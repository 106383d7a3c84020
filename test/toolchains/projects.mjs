// Common parts of the projects of all toolchains.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Returns the JavaScript of an application, with the metadata that Nest injects by. */
export function transpile(source, module) {
  const target = ts.ScriptTarget.ES2022;
  return ts.transpileModule(source, {
    compilerOptions: { module, target, experimentalDecorators: true, emitDecoratorMetadata: true },
  }).outputText;
}

export function versionOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

// Loads the instrumented sources and their specs as CommonJS, as often as wanted: a file is compiled once for
// a process, and evaluated once for each registry.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import ts from 'typescript';

const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.CommonJS,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  esModuleInterop: true,
  isolatedModules: true,
};
const PARAMETERS = ['module', 'exports', 'require', 'process'];
const REQUIRED = /\brequire\(['"]([^'"]+)['"]\)/g;
/** Sources of the packages of the workspace, below the folder of the run. */
const { paths: SOURCES } = JSON.parse(
  readFileSync(new URL('../../tsconfig.json', import.meta.url), 'utf8'),
).compilerOptions;

/** The compiled code of each file, and the packages that it imports as an ES module would. */
const compiled = new Map();
const packages = new Map();

/**
 * Compiles a file and all that it imports, and imports their packages: requiring them takes no promise then.
 */
export async function prepare(file) {
  if (compiled.has(file)) return;
  // Of an end-to-end test, which is an ES module.
  const text = readFileSync(file, 'utf8')
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)));
  const { outputText } = ts.transpileModule(text, { compilerOptions: OPTIONS, fileName: file });
  compiled.set(file, vm.compileFunction(outputText, PARAMETERS, { filename: file }));
  for (const [, name] of outputText.matchAll(REQUIRED)) {
    if (isSource(name)) await prepare(sourceOf(file, name));
    else await importOnce(addressOf(file, name));
  }
}

/** A package that is not installed fails where it is required. */
async function importOnce(address) {
  if (packages.has(address)) return;
  try {
    const found = { exports: { ...(await import(address)) } };
    Object.defineProperty(found.exports, '__esModule', { value: true });
    packages.set(address, found);
  } catch (error) {
    packages.set(address, { error });
  }
}

/** A registry of modules in which every file is evaluated again. */
export class Modules {
  #modules = new Map();
  #replaced;
  #process;

  /** @param replaced packages by their names, which replace the installed ones */
  constructor(replaced, process) {
    this.#replaced = new Map(Object.entries(replaced));
    this.#process = process;
  }

  replace(name, exports) {
    this.#replaced.set(name, exports);
  }

  load(file) {
    const known = this.#modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const evaluate = compiled.get(file);
    if (evaluate === undefined) throw new Error(`${file} is not prepared`);
    evaluate.call(module.exports, module, module.exports, (name) => this.#require(file, name), this.#process);
    return module.exports;
  }

  #require(file, name) {
    if (isSource(name)) return this.load(sourceOf(file, name));
    if (this.#replaced.has(name)) return this.#replaced.get(name);
    const { exports, error } = packages.get(addressOf(file, name));
    if (error) throw error;
    return exports;
  }
}

/** A tool of the tests, `.mjs`, is no source: it is imported once, as a package is. */
function isSource(name) {
  return (name.startsWith('.') && !name.endsWith('.mjs')) || name in SOURCES;
}

function addressOf(file, name) {
  return name.startsWith('.') ? pathToFileURL(join(dirname(file), name)).href : name;
}

function sourceOf(file, name) {
  if (name in SOURCES) return resolve(SOURCES[name][0]);
  return resolve(join(dirname(file), name.replace(/[.]js$/, '.ts')));
}

// The environment of every suite: Node.js, where a file that several suites of a worker load is compiled for
// the first of them only. Jest gives each suite its own modules, which stay separate: only the code that V8
// compiled is kept, not the objects that it created.
import { AsyncLocalStorage } from 'node:async_hooks';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';
import { processorSeconds, recordTime } from './suite-times.mjs';

const { Script, SourceTextModule } = vm;
const compileFunction = vm.compileFunction.bind(vm);

/**
 * Code from a cache cannot call `import()` on Node.js 20: V8 keeps no link from it to the module that it
 * belongs to.
 */
const CANNOT_BE_CACHED = /\bimport\s*(?:\(|\/[*/])/;

/** The options that Jest compiles a module with. */
const OF_JEST = ['filename', 'parsingContext', 'importModuleDynamically'];
/** The code of each file by its path, with the code cache of V8. */
const scripts = new Map();
const modules = new Map();

/**
 * Jest compiles CommonJS as the body of a function. A script can run again in the context of another suite,
 * and a function cannot.
 */
vm.compileFunction = (code, parameters = [], options = {}) => {
  const { filename, parsingContext, importModuleDynamically } = options;
  const isOfJest =
    filename !== undefined &&
    parsingContext !== undefined &&
    Object.keys(options).every((name) => OF_JEST.includes(name));
  if (!isOfJest || code.startsWith('#!')) return compileFunction(code, parameters, options);
  const known = scripts.get(filename);
  const kept = known?.code === code ? known : compiled(code, parameters, filename);
  kept.importInSuite = importModuleDynamically;
  return kept.script.runInContext(parsingContext);
};

/** Compiles a file, whose `import()` is that of the suite which runs it. */
function compiled(code, parameters, filename) {
  const kept = { code, script: undefined, importInSuite: undefined };
  const head = `(function (${parameters.join(', ')}) {`;
  const importModuleDynamically = (...imported) => kept.importInSuite(...imported);
  kept.script = new Script(`${head}${code}\n})`, {
    filename,
    columnOffset: -head.length,
    importModuleDynamically,
  });
  scripts.set(filename, kept);
  return kept;
}

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const known = modules.get(options?.identifier);
    if (known?.code === code) {
      super(code, { ...options, cachedData: known.cachedData });
    } else {
      super(code, options);
      // After its evaluation it is too late.
      if (options?.identifier && !CANNOT_BE_CACHED.test(code))
        modules.set(options.identifier, { code, cachedData: this.createCachedData() });
    }
  }
};

/**
 * The stores of asynchronous contexts that a suite uses. Each costs time at every promise of the worker,
 * until it is disabled.
 */
const stores = new Set();
for (const name of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...args) {
    stores.add(this);
    return original.apply(this, args);
  };
}

// A worker ends when nothing is open. Node.js then takes its contexts apart, for longer than the half second
// after which Jest ends it and reports a leak; process.exit() does not.
if (process.send) process.once('exit', () => process.exit());

export default class extends TestEnvironment {
  #began = performance.now();
  #secondsAtStart = processorSeconds();
  #suite;

  constructor(config, context) {
    super(config, context);
    this.#suite = context.testPath;
  }

  async teardown() {
    await super.teardown();
    for (const store of stores) store.disable();
    stores.clear();
    recordTime(this.#suite, processorSeconds() - this.#secondsAtStart, performance.now() - this.#began);
  }
}

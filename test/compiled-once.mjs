// The environment of every suite: Node.js, where a file that several suites of a worker load is compiled for the first of them only. Jest gives each suite
// modules of its own, which stay so: what is kept is V8's code cache of a source, not what the source made.
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const { Script, SourceTextModule } = vm;
const compileFunction = vm.compileFunction.bind(vm);

/** Code from a cache cannot call `import()` on Node.js 20: V8 keeps no link from it to the module that it belongs to. */
const CANNOT_BE_KEPT = /^#!|\bimport\s*(?:\(|\/[*/])/;

/** The code of each file by its path, and what V8 made of it. */
const functions = new Map();
const modules = new Map();
/** Keeps what a suite loaded for the first time. At its end, it includes the functions that the suite called. */
const atEndOfSuite = [];

/** Jest compiles CommonJS as the body of a function. A script can keep what V8 compiles later, and a function cannot. */
vm.compileFunction = (code, parameters = [], options = {}) => {
  const { filename, importModuleDynamically, parsingContext, ...others } = options;
  const isOfJest = filename !== undefined && parsingContext !== undefined && Object.keys(others).length === 0;
  if (!isOfJest || CANNOT_BE_KEPT.test(code)) return compileFunction(code, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  const known = functions.get(filename);
  const isKnown = known?.code === code;
  const cachedData = isKnown ? known.cachedData : undefined;
  const script = new Script(`${head}${code}\n})`, { filename, importModuleDynamically, columnOffset: -head.length, cachedData });
  if (!isKnown) {
    const kept = { code, cachedData: undefined };
    functions.set(filename, kept);
    atEndOfSuite.push(() => (kept.cachedData = script.createCachedData()));
  }
  return script.runInContext(parsingContext);
};

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const known = modules.get(options?.identifier);
    if (known?.code === code) {
      super(code, { ...options, cachedData: known.cachedData });
    } else {
      super(code, options);
      // After its evaluation it is too late.
      if (options?.identifier && !CANNOT_BE_KEPT.test(code)) modules.set(options.identifier, { code, cachedData: this.createCachedData() });
    }
  }
};

export default class CompiledOnce extends TestEnvironment {
  async teardown() {
    for (const keep of atEndOfSuite.splice(0)) keep();
    await super.teardown();
  }
}

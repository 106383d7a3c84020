// A test runner for Stryker. It evaluates the sources again for every mutant, so that a mutant of a constant
// takes no process of its own.
import { readdirSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { SUITES } from './folders.mjs';
import { prepare } from './modules.mjs';
import { runSpec } from './specs.mjs';
import { texts } from './texts.mjs';

const SOURCES = 'libs/session-auth/src';
/** A test that waits longer has stopped: without a mutant, the longest test takes a second. */
const MAX_TEST_MS = 5000;
/** The same for an end-to-end test. */
const MAX_SUITE_TEST_MS = 30_000;
const SLOW_TEST_MS = 100;
const TEST_STATUS = { success: 0, failed: 1 };

class SpecRunner {
  /** The instrumented sources read the active mutant from it, and write to it what they cover. */
  stryker = (globalThis.__stryker__ ??= {});

  /** How long each test took when it ran first. */
  #durations = new Map();

  /** The ids of the tests of each spec. */
  #ids = new Map();

  capabilities() {
    return { reloadEnvironment: true };
  }

  /**
   * Before the first run, because Stryker takes what that adds to the time of its tests for the overhead of
   * every run.
   */
  async init() {
    for (const { file } of specs()) await prepare(file);
  }

  /** Runs everything. What a spec covers while it loads is covered by each of its tests. */
  async dryRun({ timeout }) {
    const tests = [];
    const coverage = { static: {}, perTest: {} };
    this.stryker.activeMutant = undefined;
    for (const spec of specs()) {
      this.stryker.mutantCoverage = { static: {}, perTest: {} };
      this.stryker.currentTestId = undefined;
      const onStart = (id) => (this.stryker.currentTestId = id);
      const { results, error } = await runSpec({ timeout, ...spec, onStart });
      if (error || results.length === 0)
        return { status: 'error', errorMessage: `${spec.name}: ${error ?? 'has no tests'}` };
      const covered = this.stryker.mutantCoverage;
      for (const { id, durationMs, failure } of results) {
        const outcome = failure
          ? { status: TEST_STATUS.failed, failureMessage: failure }
          : { status: TEST_STATUS.success };
        this.#durations.set(id, durationMs);
        tests.push({ id, name: id, timeSpentMs: durationMs, fileName: spec.file, ...outcome });
        coverage.perTest[id] = sum(covered.static, covered.perTest[id] ?? {});
      }
    }
    return { status: 'complete', tests, mutantCoverage: coverage };
  }

  /** Runs the tests that cover the mutant until one fails: the quick ones first. */
  async mutantRun({ activeMutant, sandboxFileName, testFilter, hitLimit }) {
    const ids = testFilter ?? [];
    let nrOfTests = 0;
    for (const { spec, wanted } of this.#rounds(ids, sandboxFileName)) {
      const run = () =>
        this.#run(activeMutant, hitLimit, {
          timeout: MAX_TEST_MS,
          ...spec,
          bail: true,
          chosen: (id) => wanted.has(id),
        });
      let outcome = await run();
      // An error that no test caught can come from an earlier mutant.
      if (outcome.isStray) outcome = await run();
      const { results, error, hitCount } = outcome;
      nrOfTests += results.length;
      if (hitCount > hitLimit) return { status: 'timeout', reason: `the mutant ran ${hitCount} times` };
      const failed = results.find(({ failure }) => failure);
      if (/^(?:thrown: ")?Exceeded timeout/.test(failed?.failure))
        return { status: 'timeout', reason: failed.failure };
      const killers = failed ? [failed.id] : [...wanted].slice(0, 1);
      if (failed || error)
        return {
          status: 'killed',
          killedBy: killers,
          failureMessage: failed?.failure ?? String(error),
          nrOfTests,
        };
    }
    return { status: 'survived', nrOfTests };
  }

  /**
   * The specs beside the source are the most likely to kill the mutant; slow tests, such as those of
   * properties, run after all others.
   */
  #rounds(ids, source) {
    const all = nearestFirst(specs(), source);
    return [false, true].flatMap((isSlow) => {
      const round = ids.filter((id) => this.#durations.get(id) > SLOW_TEST_MS === isSlow);
      return all
        .map((spec) => ({ spec, wanted: new Set(round.filter((id) => id.startsWith(`${spec.name} > `))) }))
        .filter(({ wanted }) => wanted.size > 0);
    });
  }

  async #run(mutant, hitLimit, spec) {
    const ids = await this.#idsOf(spec);
    this.stryker.activeMutant = mutant.id;
    this.stryker.hitCount = hitLimit === undefined ? undefined : 0;
    this.stryker.hitLimit = hitLimit;
    const outcome = await runSpec({ ...spec, ids });
    const { hitCount } = this.stryker;
    this.stryker.activeMutant = undefined;
    for (const { id, durationMs } of outcome.results)
      if (!this.#durations.has(id)) this.#durations.set(id, durationMs);
    return { ...outcome, hitCount };
  }

  /** Loads a spec without a mutant, and runs none of its tests. */
  async #idsOf({ file, name }) {
    const onLoaded = (ids) => this.#ids.set(name, ids);
    if (!this.#ids.has(name))
      await runSpec({ file, name, timeout: MAX_TEST_MS, chosen: () => false, onLoaded });
    return this.#ids.get(name);
  }
}

/** All specs, or those of the parts that have suites, with their suites, if only those parts are tested. */
function specs() {
  const parts = (process.env.MUTATED ?? '').split(',').map((part) => part.split('/')[0]);
  const names = readdirSync(SOURCES, { recursive: true }).filter((name) => name.endsWith('.spec.ts'));
  const all = names.sort().map((name) => ({ name, file: resolve(SOURCES, name) }));
  if (!parts.every((part) => part in SUITES)) return all;
  const own = all.filter(({ name }) => parts.some((part) => name.startsWith(`${part}/`)));
  return [...own, ...[...new Set(parts.flatMap((part) => SUITES[part]))].map(suite)];
}

function suite(name) {
  return { name, file: resolve('test', `${name}.e2e-spec.ts`), timeout: MAX_SUITE_TEST_MS };
}

/** The specs beside a source are the most likely to kill its mutants. */
function nearestFirst(specs, source) {
  const distance = ({ file }) =>
    file === source.replace(/[.]ts$/, '.spec.ts')
      ? 0
      : 1 + relative(dirname(source), dirname(file)).split('/').length;
  return specs
    .map((spec) => [distance(spec), spec])
    .sort(([a], [b]) => a - b)
    .map(([, spec]) => spec);
}

function sum(some, others) {
  const total = { ...some };
  for (const [id, count] of Object.entries(others)) total[id] = (total[id] ?? 0) + count;
  return total;
}

export const strykerPlugins = [
  { kind: 'TestRunner', name: 'specs', injectableClass: SpecRunner },
  { kind: 'Ignore', name: 'texts', value: texts },
];

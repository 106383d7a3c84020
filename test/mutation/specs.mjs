// Runs specs in this process with Jest's own test functions, matchers, mocks and clock. Jest itself needs
// seconds for a run, and a mutant needs milliseconds.
import { createRequire } from 'node:module';
import { setImmediate as tick } from 'node:timers/promises';
import fastCheck from 'fast-check';
import { Modules, prepare } from './modules.mjs';

const require = createRequire(import.meta.url);
const circus = require('jest-circus');
const { jestExpect: expect } = require('@jest/expect');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const { addEventHandler, getState, resetState, run } = circus;
const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;

/** Node.js itself uses the real `process.nextTick` while a spec's clock is faked. */
const specProcess = Object.create(process, {
  nextTick: { value: process.nextTick, writable: true, configurable: true },
});
const globals = new Proxy(globalThis, {
  get: (target, name) => (name === 'process' ? specProcess : target[name]),
});
const clock = new ModernFakeTimers({
  global: globals,
  config: { fakeTimers: {}, rootDir: '/', testMatch: [] },
});
const mocker = new ModuleMocker(globalThis);
/** A spy on a faked timer outlives the faked clock of its test, and is restored to that. */
const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
const TIMERS = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };

/**
 * A mutant that survives fewer runs of a property than a unit test has counts as a survivor: the score is a
 * little too low, never too high. The properties with thousands of runs count their cases.
 */
const MAX_RUNS = 50;
const COUNTING_RUNS = 2000;
const runsOf = ({ numRuns = MAX_RUNS } = {}) =>
  numRuns < COUNTING_RUNS ? Math.min(numRuns, MAX_RUNS) : numRuns;
const assertProperty = (property, parameters) =>
  fastCheck.assert(property, { ...parameters, numRuns: runsOf(parameters) });
const quickCheck = { ...fastCheck, assert: assertProperty };
const quickModule = { __esModule: true, ...quickCheck, default: quickCheck };

/**
 * undici calls the faked `setImmediate` when a socket of an earlier spec closes while a spec's clock is
 * faked: the spec would count one timer too many.
 */
const MAX_SETTLING_MS = 200;
let idleResources = Infinity;

/**
 * Waits until the sockets of the last spec are closed. Those that a mutant has left open are waited for once.
 */
async function settled() {
  const deadline = performance.now() + MAX_SETTLING_MS;
  const open = () => process.getActiveResourcesInfo().length;
  while (open() > idleResources && performance.now() < deadline) await tick();
  idleResources = open();
}

/** Whether an error came that no test caught: it can be one of an earlier run. */
let isStray = false;
let listener = {};
addEventHandler((event) => {
  if (event.name === 'error') isStray = true;
  if (event.name === 'test_start') listener.onStart?.(event.test);
  if (event.name === 'test_done') listener.onDone?.(event.test);
});

/**
 * Evaluates a spec and runs its tests.
 * @param chosen whether to run a test, by its id
 * @param ids the ids of its tests without a mutant, in order: a mutant can change the name of a test, which
 * may contain a value
 * @param bail whether to run no more tests after one failed
 * @returns the tests that ran, and an error of the spec itself
 */
export async function runSpec({
  file,
  name,
  chosen = () => true,
  bail = false,
  timeout,
  ids: known,
  onLoaded,
  onStart,
}) {
  await prepare(file);
  await settled();
  resetState();
  getState().testTimeout = timeout;
  const results = [];
  isStray = false;
  try {
    const modules = new Modules({ 'fast-check': quickModule }, specProcess);
    modules.replace('@jest/globals', {
      afterAll,
      afterEach,
      beforeAll,
      beforeEach,
      describe,
      expect,
      it,
      test,
      jest: jestOf(modules),
    });
    modules.load(file);
    const named = [...testsOf(getState().rootDescribeBlock, name)];
    const tests =
      known?.length === named.length ? named.map(({ test }, index) => ({ test, id: known[index] })) : named;
    onLoaded?.(tests.map(({ id }) => id));
    const ids = new Map(tests.map(({ test, id }) => [test, id]));
    for (const { test, id } of tests) if (!chosen(id)) test.mode = 'skip';
    listener = {
      onStart: (test) => onStart?.(ids.get(test)),
      onDone: (test) => {
        if (test.mode === 'skip' || test.mode === 'todo') return;
        const [failure] = test.errors;
        results.push({
          id: ids.get(test),
          name: ids.get(test),
          durationMs: test.duration ?? 0,
          failure: failure && messageOf(failure),
        });
        if (failure && bail) for (const other of tests) other.test.mode = 'skip';
      },
    };
    const { unhandledErrors } = await run();
    return { results, isStray, error: unhandledErrors[0] };
  } catch (error) {
    return { results, isStray, error: messageOf(error) };
  } finally {
    listener = {};
    mocker.restoreAllMocks();
    clock.useRealTimers();
    Object.assign(globalThis, TIMERS);
  }
}

function* testsOf(block, path, counts = new Map()) {
  for (const child of block.children) {
    const name = `${path} > ${child.name}`;
    if (child.type === 'describeBlock') yield* testsOf(child, name, counts);
    else {
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      yield { test: child, id: count === 0 ? name : `${name} (${count + 1})` };
    }
  }
}

/** An error that nothing catches fails the test that runs. It can come after the last test, too. */
function failWith(error) {
  isStray = true;
  const { currentlyRunningTest, unhandledErrors } = getState();
  const caught = error ?? new Error('rejected with nothing');
  if (currentlyRunningTest) currentlyRunningTest.errors.push([caught, caught]);
  else unhandledErrors.push([caught, caught]);
}
process.on('uncaughtException', failWith);
process.on('unhandledRejection', failWith);

/**
 * Never empty, because what has a message has failed: the errors of reflect-metadata, for example, have none
 * of their own.
 */
function messageOf(failure) {
  const error = Array.isArray(failure) ? (failure[0] ?? failure[1]) : failure;
  return error?.message || String(error) || 'failed without a message';
}

/** The parts of Jest's `jest` that the specs use. */
function jestOf(modules) {
  const jest = {
    fn: (implementation) => mocker.fn(implementation),
    spyOn: (object, name, access) => mocker.spyOn(object, name, access),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    useFakeTimers: (options) => clock.useFakeTimers(options),
    useRealTimers: () => clock.useRealTimers(),
    advanceTimersByTime: (ms) => clock.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => clock.advanceTimersByTimeAsync(ms),
    getTimerCount: () => clock.getTimerCount(),
    runOnlyPendingTimers: () => clock.runOnlyPendingTimers(),
    setSystemTime: (now) => clock.setSystemTime(now),
    unstable_mockModule: (name, factory) => modules.replace(name, factory()),
  };
  return jest;
}

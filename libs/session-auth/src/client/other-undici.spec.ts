import { expect, it, jest } from '@jest/globals';
import * as undici from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';

/** The built-in one of Bun 1.4 looks like this. */
class PoolWithoutDispatch {
  readonly request = (): Promise<never> => new Promise(() => undefined);
}

it('a Pool without dispatch(), as some runtimes build it in, stops the start with a message that says so', async () => {
  jest.unstable_mockModule('undici/index.js', () => ({ ...undici, Pool: PoolWithoutDispatch }));
  const { Connections } = await import('./connections.js');
  const settings = {
    origin: 'http://127.0.0.1:9',
    maxConnections: 1,
    connectTimeoutMs: 1,
    maxResponseBytes: 1,
    proxy: undefined,
  };
  const starting = (): unknown => new Connections(settings);
  expect(starting).toThrow(InvalidConfigurationError);
  expect(starting).toThrow(
    /'undici[/]index[.]js' is not the npm package undici: its Pool has no dispatch.*Configure the runtime or the bundler/,
  );
});

import { expect, it, jest } from '@jest/globals';
import * as undici from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { UNREACHABLE } from './reply.js';
import { RequestSender } from './request-sender.js';
import { requestTo } from '../../../../test/support/service-requests.js';

/** The built-in one of Bun 1.4 looks like this. */
class ClientWithoutDispatch {
  readonly request = (): Promise<never> => new Promise(() => undefined);
}

it('a Client without dispatch(), as some runtimes build it in, is reported once, and makes calls unreachable', async () => {
  jest.unstable_mockModule('undici/index.js', () => ({ ...undici, Client: ClientWithoutDispatch }));
  const failures: unknown[] = [];
  const loadFailed = (error: unknown): void => void failures.push(error);
  const limits = { maxConnections: 1, maxResponseBytes: 1, proxy: undefined };
  const sender = new RequestSender({ ...limits, loadFailed });
  const send = () => sender.send(requestTo('http://127.0.0.1:9'));

  expect([await sender.load(), ...(await Promise.all([send(), send()]))]).toEqual([
    undefined,
    UNREACHABLE,
    UNREACHABLE,
  ]);
  expect(failures).toEqual([expect.any(InvalidConfigurationError)]);
  expect(String(failures[0])).toMatch(
    /'undici[/]index[.]js' is not the npm package undici: its Client has no dispatch.*Configure the runtime or the bundler/,
  );
});

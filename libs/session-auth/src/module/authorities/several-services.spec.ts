import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger, Module, type DynamicModule } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { type AuthorityResolver, GUARD_PARTS, type GuardParts } from '../../guard/guard-parts.js';
import type { HttpRequest } from '../../guard/http-request.js';
import { fromHeader } from '../../guard/token-source.js';
import { Causes } from '../events/cause-log.js';
import { SessionAuthModule } from '../session-auth.module.js';
import { AuthorityTable } from './several-services.js';
import { nameIn } from './authority.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}
@Module({})
class OtherCopy {}

/**
 * An authority that another copy of this package has made: it shares the tokens that are symbols, and no
 * class.
 */
const ofOtherCopy = (parts: unknown): DynamicModule => ({
  module: OtherCopy,
  providers: [
    { provide: Symbol.for('nestjs-session-auth:registration'), useValue: { name: 'copy' } },
    { provide: Symbol.for('nestjs-session-auth:guard-parts'), useValue: parts },
  ],
});

const context = new ExecutionContextHost([]);
const request: HttpRequest = { headers: { 'x-tenant': 'partners' } };
const own = {} as GuardParts;

describe('the authorities of an application', () => {
  let lines: string[];
  let close: () => Promise<void>;
  let modules: ModulesContainer;
  let log: Causes;
  const partsIn = (name: string): unknown =>
    [...modules.values()].find((module) => nameIn(module) === name)?.providers.get(GUARD_PARTS)?.instance;
  const tableOf = (resolve?: unknown): AuthorityTable =>
    new AuthorityTable(modules, resolve as AuthorityResolver | undefined, log);

  beforeEach(async () => {
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
    const imports = [
      SessionAuthModule.forRoot(OPTIONS),
      SessionAuthModule.forRoot({ ...OPTIONS, name: 'partners', token: fromHeader('x-partner') }),
      ofOtherCopy({ authority: 'copy' }),
    ];
    const application = await NestFactory.createApplicationContext(
      { module: Root, imports },
      { logger: false, abortOnError: false },
    );
    close = () => application.close();
    modules = application.get(ModulesContainer);
    log = new Causes();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await close();
  });

  it('have parts each, which their name selects, also those of another copy', () => {
    const table = tableOf(() => 'staff');
    expect(table.named('partners', own)).toBe(partsIn('partners'));
    expect(table.named('copy', own)).toEqual({ authority: 'copy' });
    expect(table.named('default', own)).toBe(own);
  });

  it.each(['suppliers', 'Partners', '', '__proto__'])('are not found by another name: %j', (name) => {
    const table = tableOf(() => name);
    expect([table.named(name, own), table.partsOf(context, request, own)]).toEqual([undefined, undefined]);
    expect(lines).toEqual([]);
  });

  it('are that without a name for each call, without the option authority', () => {
    const table = tableOf();
    expect(table.arePerCall).toBe(false);
    expect(table.partsOf(context, request, own)).toBe(own);
    expect(lines).toEqual([]);
  });

  it('are selected for each call by the option authority', () => {
    const asked: unknown[] = [];
    const table = tableOf((...values: [unknown, HttpRequest]) => {
      asked.push(values);
      return values[1].headers['x-tenant'];
    });
    expect(table.arePerCall).toBe(true);
    expect(table.partsOf(context, request, own)).toBe(partsIn('partners'));
    expect(table.partsOf(context, { headers: { 'x-tenant': 'default' } }, own)).toBe(own);
    expect(asked[0]).toEqual([context, request]);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a number', () => 5],
    ['a String object', (): unknown => Object('default')],
    ['an object', () => ({ catch: 'default' })],
    ['a promise', () => Promise.resolve('default')],
    ['a promise that rejects', () => Promise.reject(new Error('of the application'))],
    [
      'an exception',
      () => {
        throw new Error('of the application');
      },
    ],
  ])('are none where the option authority returns %s, which is logged', async (_kind, resolve) => {
    const table = tableOf(resolve);
    expect(table.partsOf(context, request, own)).toBeUndefined();
    expect(lines).toEqual([expect.stringMatching(/^no authority: /)]);
    // A rejection that nothing handles would fail this test.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

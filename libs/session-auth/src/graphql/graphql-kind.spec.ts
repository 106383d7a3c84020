import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { REPLACED_OPTION } from '../guard/handlers.js';
import { KIND } from './graphql-kind.js';

interface GraphqlOptions {
  context?: unknown;
}

const prepare = (options: GraphqlOptions, completeOptions?: object): void =>
  KIND.prepareModule?.({ completeOptions }, options);
const contextOf = ({ context }: GraphqlOptions, url = '/'): unknown =>
  (context as (arguments_: object) => unknown)({ req: { url } });

describe('the contexts of GraphQL requests', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn');
  beforeEach(() => void warn.mockReset().mockReturnValue());
  afterAll(() => {
    warn.mockRestore();
  });

  it('are separated in each GraphQLModule, once, with or without a context of the application', async () => {
    const [shared, empty]: [GraphqlOptions, GraphqlOptions] = [{ context: { tenant: 'acme' } }, {}];
    for (const options of [shared, empty]) prepare(options);
    const { context } = shared;
    prepare(shared, {});
    expect(shared.context).toBe(context);
    expect(Reflect.get(context ?? {}, REPLACED_OPTION)).toEqual({ tenant: 'acme' });
    const [first, second] = [await contextOf(shared), await contextOf(shared)];
    expect([first, second]).toMatchObject([{ tenant: 'acme' }, { tenant: 'acme' }]);
    expect(second).not.toBe(first);
    expect(await contextOf(empty)).toEqual(expect.any(Object));
  });

  it('that are one object cause one warning for each GraphQLModule', async () => {
    class Context {
      readonly tenant = 'acme';
    }
    const both = [new Context(), new Context()].map((context): GraphqlOptions => ({
      context: () => context,
    }));
    for (const options of both) {
      prepare(options);
      await contextOf(options, '/1');
    }
    expect(warn).not.toHaveBeenCalled();

    for (const options of both) for (const url of ['/2', '/3']) await contextOf(options, url);
    const line: unknown = expect.stringMatching(
      /^audit: the context function of GraphQLModule returns one object/,
    );
    expect(warn.mock.calls).toEqual([[line], [line]]);
  });

  const FROZEN = /^SessionAuthModule: the options of GraphQLModule are frozen, .* or leave out context\.$/;
  const TOO_LATE =
    /^SessionAuthModule: GraphQLModule was initialized before, .* Import SessionAuthModule first,/;
  const read = { path: '/graphql' };

  it.each<[string, GraphqlOptions, object, RegExp]>([
    ['are frozen', Object.freeze({ context: {} }), {}, FROZEN],
    ['were read before', { context: {} }, read, TOO_LATE],
    ['are frozen and were read before', Object.freeze({ context: {} }), read, TOO_LATE],
  ])(
    'cannot be separated if the options of GraphQLModule %s, unless those have no context',
    (_what, options, completeOptions, message) => {
      const error = { code: 'INVALID_CONFIGURATION', message: expect.stringMatching(message) as unknown };
      expect(() => prepare(options, completeOptions)).toThrow(expect.objectContaining(error));
      expect(() => prepare(Object.isFrozen(options) ? Object.freeze({}) : {}, completeOptions)).not.toThrow();
    },
  );
});

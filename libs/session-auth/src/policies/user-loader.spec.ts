import { describe, expect, it, jest } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { meetsAll, type RuledCall, type RuleResult } from '../guard/access-rule.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { LoadUser } from '../guard/current-user.decorator.js';
import { LocalUsers } from './user-loader.js';

const ANN: UserRecord = { username: 'ann' };

/** A registration's loader, and its calls. Returns whether the user was loaded, and which. */
function loading(load: LoadUser) {
  const loadedNone = jest.fn();
  const { requirement } = new LocalUsers(load, loadedNone);
  const [context, request] = [new ExecutionContextHost([]), {}];
  const ask = async (user = ANN): Promise<[RuleResult, unknown]> => {
    const call: RuledCall = { requirements: [requirement], user, context, request, timeoutMs: 60_000 };
    return [await meetsAll(call), call.localUser];
  };
  return { ask, requirement, loadedNone };
}

/** A query of a library for databases: it has a \`then\`, and is no promise. */
const queryOf = (result: object, sent: () => void): PromiseLike<object> => ({
  then: (settled) => {
    sent();
    return Promise.resolve(result).then(settled);
  },
});

describe('the loader of users', () => {
  it.each([{ id: 7 }, 'ann', 7, 7n])('admits with %p, which it returns or resolves to', async (user) => {
    for (const found of [user, Promise.resolve(user)])
      expect(await loading(() => found).ask()).toEqual([true, user]);
  });

  it.each([undefined, null])('denies with %p, which is no user', async (found) => {
    const { ask, requirement, loadedNone } = loading(() => Promise.resolve(found));
    expect(await ask()).toEqual([{ requirement }, undefined]);
    expect(loadedNone).not.toHaveBeenCalled();
  });

  it.each<unknown>([false, true, '', 0, NaN, 0n])(
    'denies with %p, which may be a mistake, and reports it [P69]',
    async (found) => {
      const { ask, requirement, loadedNone } = loading(() => Promise.resolve(found));
      expect(await ask()).toEqual([{ requirement }, undefined]);
      expect(loadedNone).toHaveBeenCalledTimes(1);
    },
  );

  it('asks a query of a library once for a request, however many handlers share it', async () => {
    const sent = jest.fn();
    const query = queryOf({ id: 7 }, sent);
    const { ask } = loading(() => query);
    for (let handler = 0; handler < 3; handler += 1) expect(await ask()).toEqual([true, { id: 7 }]);
    expect(sent).toHaveBeenCalledTimes(1);
  });

  it('loads the user of the record that was checked last, if a fresh check has replaced the record [P52]', async () => {
    const { ask } = loading(({ role }) => ({ role }));
    for (const role of ['boss', 'guest']) expect(await ask({ role })).toEqual([true, { role }]);
  });
});

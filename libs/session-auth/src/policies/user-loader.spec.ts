import { describe, expect, it, jest } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { RuledCall } from '../guard/access-rule.js';
import { LocalUsers } from './user-loader.js';

const context = new ExecutionContextHost([]);
const user = { username: 'ann' };

describe('the loader of users', () => {
  it('loads the user of the record that was checked last, if a fresh check has replaced the record', () => {
    const { requirement } = new LocalUsers(
      ({ role }) => ({ role }),
      () => undefined,
    );
    const [request, requirements, timeoutMs] = [{}, [requirement], 1_000];
    const rolesOf = (role: string): unknown => {
      const call: RuledCall = { requirements, user: { username: 'ann', role }, context, request, timeoutMs };
      return [requirement.isMet(call), call.localUser];
    };
    expect(rolesOf('boss')).toEqual([true, { role: 'boss' }]);
    expect(rolesOf('guest')).toEqual([true, { role: 'guest' }]);
  });

  it('asks a query of a library once for a request, however many handlers share it', async () => {
    const send = jest.fn();
    const query: PromiseLike<object> = {
      then: (settled) => {
        send();
        return Promise.resolve({ id: 7 }).then(settled);
      },
    };
    const { requirement } = new LocalUsers(
      () => query,
      () => undefined,
    );
    const request = {};
    for (let handler = 0; handler < 3; handler += 1) {
      const call: RuledCall = { requirements: [requirement], user, context, request, timeoutMs: 1_000 };
      expect([await requirement.isMet(call), call.localUser]).toEqual([true, { id: 7 }]);
    }
    expect(send).toHaveBeenCalledTimes(1);
  });
});

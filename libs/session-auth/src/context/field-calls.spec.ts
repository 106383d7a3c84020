import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { TRANSPORTS } from '../guard/transport.js';
import { attach } from '../guard/guarded-request.js';
import { currentCall, runInCall } from './current-call.js';
import { FieldCall, runField, runPublicField } from './field-calls.js';

TRANSPORTS.set('graphql', GRAPHQL);

interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
}
interface Info {
  readonly path: Path;
  readonly variableValues: object;
}

/** A field of an execution, below another one. */
const fieldBelow = (above: Info | undefined, key: string | number, execution: object): Info => ({
  path: { prev: above?.path, key },
  variableValues: execution,
});

/** Admits a field, as a guard does. */
function admit(info: Info, username: string): void {
  const call = GRAPHQL.open(new ExecutionContextHost([{}, {}, {}, info]));
  attach(call.request, admissionOf({ user: { username } }));
  GRAPHQL.admitted?.(call);
}

/** The name of the user that the resolver of a field finds, which runs within a call of someone else. */
function userIn(info: Info | undefined, run = runField): unknown {
  const read = (): Promise<unknown> => Promise.resolve(currentCall()?.admission?.user?.username ?? 'none');
  return runInCall({ admission: admissionOf({ user: { username: 'outer' } }) }, () => run({ info }, read));
}

describe('the user of a field', () => {
  it('is that of the nearest admitted field above', async () => {
    const execution = {};
    const query = fieldBelow(undefined, 'query', execution);
    const [opening, list] = [fieldBelow(query, 'opening', execution), fieldBelow(query, 'list', execution)];
    const item = fieldBelow(list, 0, execution);
    expect(await userIn(fieldBelow(query, 'below', execution))).toBe('none');

    admit(query, 'ann');
    admit(opening, 'bob');

    expect(await userIn(fieldBelow(query, 'below', execution))).toBe('ann');
    expect(await userIn(fieldBelow(opening, 'below', execution))).toBe('bob');
    expect(await userIn(fieldBelow(item, 'below', execution))).toBe('ann');
  });

  it('is its own, if a guard has admitted the field itself, and is that of the fields below it', async () => {
    const execution = {};
    const query = fieldBelow(undefined, 'query', execution);
    admit(query, 'ann');
    const own = fieldBelow(query, 'own', execution);
    expect(await userIn(own)).toBe('ann');
    admit(own, 'bob');

    expect(await userIn(own)).toBe('bob');
    expect(await userIn(fieldBelow(own, 'below', execution))).toBe('bob');
    expect(await userIn(fieldBelow(query, 'beside', execution))).toBe('ann');
  });

  it.each([undefined, { path: undefined }, { path: {} }, { variableValues: {} }, { variableValues: null }])(
    'is none without an info object: %j',
    async (info) => {
      expect(await userIn(info as unknown as Info | undefined)).toBe('none');
    },
  );

  it('is none for a public field', async () => {
    const execution = {};
    const query = fieldBelow(undefined, 'query', execution);
    admit(query, 'ann');
    expect(await userIn(fieldBelow(query, 'public', execution), runPublicField)).toBe('none');
  });
});

describe('the call of a field', () => {
  it('is that of the resolver with its info object, whatever its arguments have become', () => {
    const [info, other] = [fieldBelow(undefined, 'one', {}), fieldBelow(undefined, 'other', {})];
    const call = new FieldCall({ source: {}, args: {}, context: {}, info });
    expect(call.isCallWith([{}, { mapped: true }, {}, info])).toBe(true);
    expect(call.isCallWith([{}, {}, {}, other])).toBe(false);
    expect(call.isCallWith([])).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { attachUser, type Admission } from '../guarded-request.js';
import { currentCall, runInCall } from './current-call.js';
import { infoIn, runField, runPublicField, storeFieldCall } from './field-calls.js';

interface Path {
  readonly prev: Path | undefined;
}
interface Info {
  readonly path: Path;
  readonly variableValues: object;
}

/** A field of an execution, below another one. */
const fieldBelow = (above: Info | undefined, execution: object): Info => ({ path: { prev: above?.path }, variableValues: execution });

/** The admission of a call, with a user of this name. */
function admissionOf(username: string): Admission {
  const context = new ExecutionContextHost([]);
  return { verifier: { revoker: { count: 0 } }, authority: 'default', revocations: 0, context, user: { username }, session: undefined };
}

/** Admits a field itself, as a guard does. */
function admit(info: Info, username: string): void {
  const call = GRAPHQL.open(new ExecutionContextHost([{}, {}, {}, info]));
  const user = { username };
  attachUser(call.request, { kind: 'authenticated', user }, { ...admissionOf(username), user });
  GRAPHQL.admitted?.(call);
}

/** The name of the user that the resolver of a field finds, which runs within a call of someone else. */
function userIn(info: Info | undefined, run = runField): unknown {
  const read = (): Promise<unknown> => Promise.resolve(currentCall()?.admission?.user?.username ?? 'none');
  return runInCall({ admission: admissionOf('outer') }, () => run({ info }, read));
}

describe('the user of a field', () => {
  it('is that of the nearest field above that has one', async () => {
    const execution = {};
    const query = fieldBelow(undefined, execution);
    const [opening, list] = [fieldBelow(query, execution), fieldBelow(query, execution)];
    const item = fieldBelow(list, execution);
    expect(await userIn(fieldBelow(query, execution))).toBe('none');

    storeFieldCall(query, { admission: admissionOf('ann') });
    storeFieldCall(opening, { admission: admissionOf('bob') });

    expect(await userIn(fieldBelow(query, execution))).toBe('ann');
    expect(await userIn(fieldBelow(opening, execution))).toBe('bob');
    expect(await userIn(fieldBelow(item, execution))).toBe('ann');
  });

  it('is its own, if a guard has admitted the field itself, and is that of the fields below it', async () => {
    const execution = {};
    const query = fieldBelow(undefined, execution);
    storeFieldCall(query, { admission: admissionOf('ann') });
    const own = fieldBelow(query, execution);
    admit(own, 'bob');

    expect(await userIn(own)).toBe('bob');
    expect(await userIn(fieldBelow(own, execution))).toBe('bob');
  });

  it('is none in another execution that shares the path of the field above', async () => {
    const query = fieldBelow(undefined, {});
    storeFieldCall(query, { admission: admissionOf('ann') });
    expect(await userIn(fieldBelow(query, {}))).toBe('none');
  });

  it.each([undefined, { path: undefined }, { path: {} }, { variableValues: {} }])('is none without an info object: %j', async (info) => {
    expect(await userIn(info as Info | undefined)).toBe('none');
  });

  it('is none for a public field', async () => {
    const execution = {};
    const query = fieldBelow(undefined, execution);
    storeFieldCall(query, { admission: admissionOf('ann') });
    expect(await userIn(fieldBelow(query, execution), runPublicField)).toBe('none');
  });

  it('is found by the info object of a reference, which is in the place of the context', async () => {
    const execution = {};
    const query = fieldBelow(undefined, execution);
    storeFieldCall(query, { admission: admissionOf('ann') });
    const read = (): Promise<unknown> => Promise.resolve(currentCall()?.admission?.user?.username);
    expect(await runField({ context: fieldBelow(query, execution), info: undefined }, read)).toBe('ann');
  });
});

describe('the info object of a resolver', () => {
  it('is its fourth argument, or its third one', () => {
    const [info, other] = [fieldBelow(undefined, {}), fieldBelow(undefined, {})];
    expect(infoIn([{}, {}, {}, info])).toBe(info);
    expect(infoIn([{}, {}, info])).toBe(info);
    expect(infoIn([{}, {}, other, info])).toBe(info);
    expect(infoIn([info, info, {}, null])).toBeUndefined();
    expect(infoIn([{}, {}, { path: {} }, { variableValues: {} }])).toBeUndefined();
  });
});

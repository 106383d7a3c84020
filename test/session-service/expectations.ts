import { expect } from '@jest/globals';
import { CCL_INFO_TYPES, FIELD_TYPES } from '../../libs/session-auth-cli/src/contract/expectations.js';
import { type WireReply } from './send.js';

/** All fields of a user record (interface, 2.1). */
export const RECORD_FIELDS = Object.keys(FIELD_TYPES);

export function expectEmpty(reply: WireReply, status: number): void {
  expect({ status: reply.status, body: reply.body }).toEqual({ status, body: '' });
}

/** Expects a 200 with a user record whose fields, where present, have the documented names and types. */
export function expectUserRecord(reply: WireReply): Record<string, unknown> {
  expect(reply.status).toBe(200);
  expect(reply.headers['content-type']).toMatch(/^application\/json\b/);
  const record = JSON.parse(reply.body) as Record<string, unknown>;
  expectTypes(record, FIELD_TYPES);
  if (record.ccl_info !== undefined) expectTypes(record.ccl_info as Record<string, unknown>, CCL_INFO_TYPES);
  return record;
}

function expectTypes(fields: Record<string, unknown>, types: Readonly<Record<string, string>>): void {
  const documented = Object.entries(fields).filter(([name]) => name in types);
  const found = documented.map(([name, value]) => [name, value === null ? 'null' : typeof value]);
  expect(found).toEqual(documented.map(([name]) => [name, types[name]]));
}

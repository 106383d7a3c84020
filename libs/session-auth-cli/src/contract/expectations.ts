import { readJsonObject } from '../../../session-auth/src/client/reply.js';
import {
  CCL_FIELDS,
  TOKEN_FIELD,
  USER_FIELDS,
} from '../../../session-auth/src/contract/record/record-fields.js';
import {
  type Answer,
  type FailedAnswer,
  failureText,
  INTERRUPTED,
  isRedirect,
  type ReplyAnswer,
  tokenIn,
} from '../calls/answer.js';
import type { Account, Headers, ServiceClient } from '../calls/service-client.js';

/** The fields of a user record, with their types (section 2.1). */
export const FIELD_TYPES: Readonly<Record<string, string>> = Object.fromEntries([
  ...USER_FIELDS,
  ...TOKEN_FIELD,
]);

/** The fields of `ccl_info`, with their types (section 2.2). */
export const CCL_INFO_TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  CCL_FIELDS.map(([name]) => [name, 'number']),
);

type RecordJson = Readonly<Record<string, unknown>>;

/** @throws Complaint if there is a body, or another status */
export function expectEmpty(answer: Answer, ...statuses: readonly number[]): void {
  const { status, bytes } = expectStatus(answer, ...statuses);
  if (bytes > 0) throw new Complaint(`Expected an empty body, but the ${status} has one.`);
}

export function expectRefusal(answer: Answer): void {
  expectEmpty(answer, 400, 401, 403, 404);
}

/** Returns the token of a new session: other rows check the rest. */
export async function openSession(client: ServiceClient, user: Account, headers?: Headers): Promise<string> {
  const reply = expectStatus(await client.signIn(user, headers), 200, 201);
  return expectToken({ auth_token: tokenIn(reply) });
}

/**
 * Returns the record of a reply. @throws Complaint if it is not a 200 with a record whose fields, where
 * present, have the documented types
 */
export function expectRecord(answer: Answer): RecordJson {
  const reply = expectStatus(answer, 200);
  if (!/^application\/json\b/i.test(reply.headers['content-type'] ?? ''))
    throw new Complaint('The Content-Type of the record is not application/json.');
  const record = readJsonObject(reply) as RecordJson | undefined;
  if (!record) throw new Complaint('The body is not a JSON object in UTF-8 without a content encoding.');
  expectTypes(record, FIELD_TYPES, '');
  if (record.ccl_info !== undefined) expectTypes(record.ccl_info as RecordJson, CCL_INFO_TYPES, 'ccl_info.');
  return record;
}

export function expectToken({ auth_token: token }: RecordJson): string {
  if (typeof token !== 'string') throw new Complaint('The record has no auth_token.');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Complaint('The auth_token is empty, or holds other characters than visible ASCII.');
  return token;
}

const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Returns the reply. @throws NoReply if there is none, and Complaint if its status is not one of these */
export function expectStatus(answer: Answer, ...statuses: readonly number[]): ReplyAnswer {
  if (answer.kind === 'failure') throw new NoReply(answer);
  if (statuses.includes(answer.status)) return answer;
  throw new Complaint(
    `Expected ${LIST.format(statuses.map(String))}, but the reply is ${answer.status}${remark(answer)}.`,
  );
}

function expectTypes(fields: RecordJson, types: Readonly<Record<string, string>>, path: string): void {
  for (const [name, type] of Object.entries(types)) {
    if (!Object.hasOwn(fields, name)) continue;
    const found = typeOf(fields[name]);
    if (!found.endsWith(` ${type}`))
      throw new Complaint(`The field ${path}${name} is ${found}. The interface says ${type}.`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function remark(reply: ReplyAnswer): string {
  if (isRedirect(reply)) return ', a redirect, which is not followed';
  return reply.status === 429 ? ': the service limits the rate of requests' : '';
}

/** The message holds no text of a reply. */
export class Complaint extends Error {}

export class NoReply extends Complaint {
  readonly isInterruption: boolean;

  constructor(answer: FailedAnswer) {
    super(failureText(answer));
    this.isInterruption = answer.code === INTERRUPTED;
  }
}

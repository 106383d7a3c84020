import { readJsonObject } from '../../../session-auth/src/client/reply.js';
import {
  CCL_FIELDS,
  TOKEN_FIELD,
  USER_FIELDS,
} from '../../../session-auth/src/contract/record/record-fields.js';
import {
  type FailedAnswer,
  failureText,
  INTERRUPTED,
  isRedirect,
  type ReplyAnswer,
} from '../calls/answer.js';

/** The fields of a user record, with their types (section 2.1). */
export const FIELD_TYPES: Readonly<Record<string, string>> = Object.fromEntries([
  ...USER_FIELDS,
  ...TOKEN_FIELD,
]);

/** The fields of `ccl_info`, with their types (section 2.2). */
export const CCL_INFO_TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  CCL_FIELDS.map(([name]) => [name, 'number']),
);

/** The statuses that the interface lists for a request that is not granted. It does not list their causes. */
const REFUSALS = [400, 401, 403, 404];

type RecordJson = Readonly<Record<string, unknown>>;

/** @throws Complaint if the reply is not the status with an empty body */
export function expectEmpty(reply: ReplyAnswer, status: number): void {
  expectStatus(reply, [status]);
  expectNoBody(reply);
}

/** @throws Complaint if the reply is not one of the documented refusals, with an empty body */
export function expectRefusal(reply: ReplyAnswer): void {
  expectStatus(reply, REFUSALS);
  expectNoBody(reply);
}

/**
 * Returns the record of a reply. @throws Complaint if it is not a 200 with a record whose fields, where
 * present, have the documented types
 */
export function expectRecord(reply: ReplyAnswer): RecordJson {
  expectStatus(reply, [200]);
  if (!/^application\/json\b/i.test(reply.headers['content-type'] ?? ''))
    throw new Complaint('The Content-Type of the record is not application/json.');
  const record = readJsonObject(reply) as RecordJson | undefined;
  if (!record) throw new Complaint('The body is not a JSON object in UTF-8 without a content encoding.');
  expectTypes(record, FIELD_TYPES, '');
  if (record.ccl_info !== undefined) expectTypes(record.ccl_info as RecordJson, CCL_INFO_TYPES, 'ccl_info.');
  return record;
}

/** Returns the `auth_token` of a record. @throws Complaint if no header can carry it */
export function expectToken({ auth_token: token }: RecordJson): string {
  if (typeof token !== 'string') throw new Complaint('The record has no auth_token.');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Complaint('The auth_token is empty, or holds other characters than visible ASCII.');
  return token;
}

const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export function expectStatus(reply: ReplyAnswer, statuses: readonly number[]): void {
  if (statuses.includes(reply.status)) return;
  throw new Complaint(
    `Expected ${LIST.format(statuses.map(String))}, but the reply is ${reply.status}${remark(reply)}.`,
  );
}

function expectNoBody({ status, bytes }: ReplyAnswer): void {
  if (bytes > 0) throw new Complaint(`Expected an empty body, but the ${status} has ${bytes} bytes.`);
}

function expectTypes(fields: RecordJson, types: Readonly<Record<string, string>>, path: string): void {
  for (const [name, type] of Object.entries(types)) {
    if (!Object.hasOwn(fields, name)) continue;
    const found = typeOf(fields[name]);
    if (found !== type)
      throw new Complaint(`The field ${path}${name} is ${withArticle(found)}. The interface says ${type}.`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
}

function remark(reply: ReplyAnswer): string {
  if (isRedirect(reply)) return ', a redirect, which is not followed';
  return reply.status === 429 ? ': the service limits the rate of requests' : '';
}

/** The service does not keep a row of the contract. Its message holds no text of a reply. */
export class Complaint extends Error {}

/** Failures of a request that may have reached the service. */
const MAY_BE_SENT = /^(?:TIMEOUT|ECONNRESET|EPIPE|TOO_LARGE|HPE_.*|INVALID_REPLY)$/;

/** A call brought no reply. */
export class NoReply extends Complaint {
  /** Whether the user has interrupted the command. */
  readonly isInterruption: boolean;

  constructor(answer: FailedAnswer, isSignIn = false) {
    super(
      `${failureText(answer)}${isSignIn && MAY_BE_SENT.test(answer.code) ? ' A session may have been opened; its token is unknown.' : ''}`,
    );
    this.isInterruption = answer.code === INTERRUPTED;
  }
}

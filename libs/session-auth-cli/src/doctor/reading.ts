import { isReadable, readJsonObject } from '../../../session-auth/src/client/reply.js';
import { USER_FIELDS } from '../../../session-auth/src/contract/record/record-fields.js';
import { prepareUserReader } from '../../../session-auth/src/contract/record/user-reader.js';
import type { UserRecord } from '../../../session-auth/src/contract/record/user-record.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-table.js';
import type { ReplyAnswer } from '../calls/answer.js';

const FIELDS: readonly string[] = USER_FIELDS.map(([name]) => name);
const TOKEN_NAME = 'auth_token';
const MAX_NAMES = 10;

/** How a body is mapped, and the guide that shows it. */
export const MAPPING =
  'userRecord takes a schema that maps the bodies of checks and sign-ins: https://github.com/nestjs-session-auth/nestjs-session-auth/blob/main/docs/different-service.md';

/** Reads a record as the guard does. */
export const { read: readUser } = prepareUserReader();

/** Returns the record in the body of a 200, or the reason why it is invalid, without any value. */
export function readUserRecord(
  answer: ReplyAnswer,
): { readonly user: UserRecord } | { readonly problem: string } {
  const json = readJsonObject(answer);
  if (json === undefined) return { problem: bodyProblem(answer) };
  let problem: string | undefined;
  const user = readUser(json, (_field, requirement) => (problem = requirement));
  if (!user) return { problem: `it is not a user record${problem === undefined ? '' : `: ${problem}`}` };
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const { identityFields } = DEFAULTS;
  if (identityFields.some((field) => isText(user[field]))) return { user };
  return {
    problem: `it lacks ${identityFields.join(' and ')} (it has ${listOf(membersOf(json)) || 'no field'}). Set identityFields to a text that identifies the user, or map the record, and test that with startSessionService(), not doctor. ${MAPPING}`,
  };
}

/** The names of the interface that a record lacks, and others that it has. */
export function fieldsText(reply: ReplyAnswer): string {
  const names = namesIn(readJsonObject(reply));
  const lacking = FIELDS.filter((name) => !names.includes(name));
  const others = names.filter((name) => !FIELDS.includes(name));
  return [
    lacking.length > 0 && `; it lacks ${listOf(lacking)}`,
    others.length > 0 && `; it has ${listOf(others.map(shortened))}, which the interface does not list`,
  ]
    .filter(Boolean)
    .join('');
}

function namesIn(json: object = {}): string[] {
  return Object.keys(json).filter((name) => name !== TOKEN_NAME);
}

/** A service may wrap its records. */
function membersOf(json: object): string[] {
  return namesIn(json).flatMap((name) => {
    const value: unknown = Reflect.get(json, name);
    const inner = typeof value === 'object' && value ? Object.keys(value) : [];
    return inner.length > 0
      ? inner.map((part) => `${shortened(name)}.${shortened(part)}`)
      : [shortened(name)];
  });
}

/** A name may be data: its first word, of at most 40 characters. */
function shortened(name: string): string {
  return name.replace(/(\W|(?<=^\w{40})\w).*/s, '…');
}

function listOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function bodyProblem({ headers, body }: ReplyAnswer): string {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (!isReadable(headers, Number.MAX_SAFE_INTEGER))
    return `its body is encoded${encoding === undefined ? '' : ' (Content-Encoding)'}, and the library asks for identity`;
  if (body?.length === 0) return 'its body is empty';
  if (type !== undefined && !/json/i.test(type)) return 'its Content-Type is not JSON';
  return 'its body is not a JSON object in UTF-8';
}

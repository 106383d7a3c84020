import { isReadable, readJsonObject } from '../../../session-auth/src/client/reply.js';
import { prepareUserReader } from '../../../session-auth/src/contract/record/user-reader.js';
import type { UserRecord } from '../../../session-auth/src/contract/record/user-record.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-defaults.js';
import type { ReplyAnswer } from '../calls/answer.js';

let problem: string | undefined;
const { read } = prepareUserReader((_field, requirement) => (problem = requirement));

/**
 * The body of a 200 as the library reads it: a record, or the reason why it is invalid, without any value.
 */
type Reading = { readonly user: UserRecord } | { readonly problem: string };

export function readUserRecord(answer: ReplyAnswer): Reading {
  const json = readJsonObject(answer);
  if (json === undefined) return { problem: bodyProblem(answer) };
  const user = readUser(json);
  if (!user) return { problem: `it is not a user record${problem === undefined ? '' : `: ${problem}`}` };
  const { identityFields } = DEFAULTS;
  if (identityFields.some((field) => typeof user[field] === 'string' && user[field] !== '')) return { user };
  return {
    problem: `it has none of the identity fields ${identityFields.join(', ')}. Set identityFields, or map the record: userRecord takes a schema`,
  };
}

/** Reads a record as the guard does. */
export function readUser(json: object): UserRecord | undefined {
  problem = undefined;
  return read(json);
}

function bodyProblem({ headers, body }: ReplyAnswer): string {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (!isReadable(headers, Number.MAX_SAFE_INTEGER))
    return `its body is encoded${encoding === undefined ? '' : ' (Content-Encoding)'}, and the library asks for identity`;
  if (body?.length === 0) return 'its body is empty';
  if (type !== undefined && !/json/i.test(type)) return 'its Content-Type is not JSON';
  return 'its body is not a JSON object in UTF-8';
}

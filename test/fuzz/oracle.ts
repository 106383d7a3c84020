import { readAnswer, valuesOf, type Answer } from './http-reading.js';
import { readUser } from './record-reading.js';
import { MAX_BODY, PRESENTED_TOKEN, type Expected, type Outcome, type WireCase } from './wire-case.js';

/**
 * As long as the token that it stands for: what a framing has cut into pieces is not replaced, and is not the
 * token that is presented.
 */
const SENT_TOKEN = 'token-99999999';

/**
 * Returns the outcomes of an answer by rules R1, R3, R5 and R17. Written from the interface and RFC 9112,
 * without the library.
 */
export function expectedOf({ bytes, ending }: WireCase): Expected {
  const answer = readAnswer(bytes.replaceAll(PRESENTED_TOKEN, SENT_TOKEN), ending);
  if (answer.kind === 'answer') return expectedOfAnswer(answer);
  const surelyNoRefusal = answer.kind === 'incomplete' && (answer.status === 0 || answer.status === 200);
  return { permitted: surelyNoRefusal ? ['unavailable'] : DENIALS, user: undefined, end: undefined };
}

const DENIALS: readonly Outcome[] = ['unavailable', 'unauthenticated', 'forbidden'];

function expectedOfAnswer(answer: Answer): Expected {
  const { head, body, certain, end } = answer;
  const coding = codingOf(answer);
  if (head.status !== 200) {
    const outcome = refusalOf(head.status, body);
    const exact = certain && coding === 'plain' && body.length <= MAX_BODY;
    return { permitted: exact ? [outcome] : [outcome, 'unavailable'], user: undefined, end };
  }
  const type = typeOf(answer);
  const isUsable = body.length <= MAX_BODY && coding !== 'coded' && type !== 'other';
  const user = isUsable ? readUser(body) : undefined;
  const named = user?.auth_token;
  if (!user || (named !== undefined && named !== SENT_TOKEN))
    return { permitted: ['unavailable'], user: undefined, end };
  const exact = certain && coding === 'plain' && type === 'json';
  const shown = named === undefined ? user : { ...user, auth_token: PRESENTED_TOKEN };
  return { permitted: exact ? ['allow'] : ['allow', 'unavailable'], user: shown, end };
}

function refusalOf(status: number, body: string): Outcome {
  if (status === 403) return 'forbidden';
  return status === 400 || status === 401 || (status === 404 && body === '')
    ? 'unauthenticated'
    : 'unavailable';
}

/** Whether the body is sent as it is; `unclear` for equivalent forms. */
function codingOf({ head }: Answer): 'plain' | 'unclear' | 'coded' {
  const codings = valuesOf(head, 'content-encoding');
  if (codings.length === 0) return 'plain';
  if (codings.length === 1 && codings[0] === 'identity') return 'plain';
  return codings.every((coding) => /^(identity)?$/i.test(coding)) ? 'unclear' : 'coded';
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const PARAMETER = `[ \\t]*;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"[^"\\\\]*"))?`;
const JSON_TYPE = new RegExp(
  `^(?:application/json|text/json|${TOKEN}/${TOKEN}\\+json)(?:${PARAMETER})*[ \\t]*$`,
  'i',
);
const LOOSE_JSON_TYPE = /^(?:application\/json|text\/json|[^/;, ]+\/[^/;, ]+\+json)[ \t]*(?:;.*)?$/i;

/**
 * Whether the answer says that it is JSON, or says nothing; `unclear` where it says so in a form that the
 * standard does not have.
 */
function typeOf({ head }: Answer): 'json' | 'unclear' | 'other' {
  const types = valuesOf(head, 'content-type');
  if (types.length === 0) return 'json';
  if (types.length === 1 && (types[0] === '' || JSON_TYPE.test(types[0] ?? ''))) return 'json';
  return types.every((type) => type === '' || LOOSE_JSON_TYPE.test(type)) ? 'unclear' : 'other';
}

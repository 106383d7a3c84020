import fc from 'fast-check';
import { texts, weighted } from './drawing.js';
import { MAX_BODY, PRESENTED_TOKEN } from './wire-case.js';

/** JSON texts by the type that a field declares. */
const STRING = texts`"a" | "" | "ann@a.example" | "\\u0000" | "\\ud800" | "é€😀" | "__proto__" | "\\"}" | "7"`;
const TOKEN = [...Array<string>(8).fill(`"${PRESENTED_TOKEN}"`), '"a"', '""'];
const BOOLEAN = ['true', 'false'];
const ID = texts`7 | 0 | -1 | -0 | 7.0 | 1e3 | 9007199254740991 | -9007199254740991`;
const NO_ID = texts`1e999 | -1e999 | 1.5 | 9007199254740992 | 9007199254740993 | "7" | true | [] | {} | [7]`;
const NESTED = `${'['.repeat(900)}${']'.repeat(900)}`;
const ANY = [
  ...texts`null | true | false | 0 | 7 | 1e999 | "" | "a" | [] | {} | ["a"] | [true] | [{}] | {"length":1} |
{"username":"a"} | {"__proto__":{"client_id":"x"}} | {"constructor":{"prototype":{}}} |
{"toString":null} | [{"client_id":1}]`,
  NESTED,
];
const NO_JSON = texts`undefined | NaN | 'a' | 01 | +1 | .5 | "a | "\t" | "\\x41" | tru | ∅ | [ | {"a":} | - | 1e | "\\u12"`;

/** The fields of a record, by the type that the interface declares. */
export const NAMES = {
  string: texts`username | email | role | first_name | last_name | sub_role | preffered_language | client_name`,
  token: ['auth_token'],
  boolean: ['help_checkbox', 'benestream_enabled', 'ats_enabled', 'obs_enabled'],
  id: ['client_id', 'company_id', 'location_id'],
};
const STRANGE = texts`__proto__ | constructor | prototype | toJSON | Username | preferred_language | hasOwnProperty | ∅ |
length`;

type Pair = readonly [name: string, value: string];

const pair = (names: readonly string[], values: readonly string[]): fc.Arbitrary<Pair> =>
  fc.tuple(fc.constantFrom(...names), fc.constantFrom(...values, 'null'));

const ids = fc
  .array(weighted([20, pair(NAMES.id, ID)], [1, pair(NAMES.id, NO_ID)]), { maxLength: 3 })
  .map(objectOf);
const wellTyped: fc.Arbitrary<Pair> = weighted(
  [5, pair([...NAMES.string, 'display_label'], STRING)],
  [3, pair(NAMES.boolean, BOOLEAN)],
  [1, pair(NAMES.token, TOKEN)],
  [2, fc.tuple(fc.constant('ccl_info'), ids)],
  [1, pair(STRANGE, ANY)],
);
const everyName = [
  ...NAMES.string,
  ...NAMES.token,
  ...NAMES.boolean,
  ...NAMES.id,
  'ccl_info',
  'display_label',
  ...STRANGE,
];
const anyPair = weighted([80, wellTyped], [3, pair(everyName, ANY)], [1, pair(everyName, NO_JSON)]);
const identity = weighted(
  [8, pair(['username', 'email'], ['"ann"', '"é"', '" "'])],
  [1, pair(['username', 'email'], ['""', '"a"'])],
);

const record = fc
  .tuple(identity, fc.array(anyPair, { maxLength: 6 }), fc.boolean())
  .map(([who, others, last]) => objectOf(last ? [...others, who] : [who, ...others]));

const NO_RECORD = texts`∅ | \x20 | null | [] | 42 | "x" | true | { | } | {} | <html> | [{"username":"ann"}] |
{"username":"ann",} | \0 | {'username':'ann'} | {"username":"ann" | username=ann | {"username":"ann"}{} |
{"username":"ann"}\0 | //\n{"username":"ann"}`;
const noRecord = fc.oneof(fc.constantFrom(...NO_RECORD), fc.constantFrom(...ANY));

/** Bytes around or in the text; `x` stands for a text of one character a byte. */
const DRESS: readonly ((text: string) => string)[] = [
  (text) => `\xef\xbb\xbf${text}`,
  (text) => `\xef\xbb\xbf\xef\xbb\xbf${text}`,
  (text) => `\r\n\t ${text} \n`,
  (text) => `${text}\xa0`,
  (text) => `${text}\xef\xbb\xbf`,
  (text) => text.replace('ann', '\xff'),
  (text) => text.replace('ann', 'a\xc0\xaf'),
  (text) => text.replace('ann', '\xed\xa0\x80'),
  (text) => text.replace('ann', 'a\xe2\x82'),
  (text) => text.replace(/[^]/g, '$&\0'),
  (text) => text.slice(0, -1),
  (text) => `${text},`,
  ...[MAX_BODY - 1, MAX_BODY, MAX_BODY + 1, 2 * MAX_BODY].map(
    (length) => (text: string) => text.padEnd(length),
  ),
  ...[MAX_BODY, MAX_BODY + 1].map(
    (length) => (text: string) => text.replace('ann', 'n'.repeat(length - text.length + 3)),
  ),
];
const dress = weighted([12, fc.constant((text: string) => text)], [2, fc.constantFrom(...DRESS)]);

/** A body, one character a byte: most often a user record. */
export const body: fc.Arbitrary<string> = fc
  .tuple(weighted([18, record], [1, noRecord], [1, fc.constant('')]), dress)
  .map(([text, dressed]) => dressed(Buffer.from(text, 'utf8').toString('latin1')));

function objectOf(pairs: readonly Pair[]): string {
  return `{${pairs.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
}

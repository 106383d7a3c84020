import { inspect } from 'node:util';

/** The secrets of every row. Each holds characters that every encoding writes differently. */
export const KEY = 'canary-key/+=%"1';
export const TOKEN = 'canary-token/+=%"2';
export const IV = 'canary-iv/+=%"3';
export const PASSWORD = 'canary password/+=%"4';

const CANARY_FORMS: readonly string[] = [KEY, TOKEN, IV, PASSWORD].flatMap(formsOf);

const LOWER_CASE_FORMS = CANARY_FORMS.map((form) => form.toLowerCase());

/** Every way to write a secret that the scan knows; case does not count. */
export function formsOf(secret: string): string[] {
  return [
    secret,
    ...base64Of(secret, 'base64'),
    ...base64Of(secret, 'base64url'),
    Buffer.from(secret).toString('hex'),
    bytesOf(secret),
    encodeURIComponent(secret),
    encodeURI(secret),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  ];
}

/** Returns the secrets that a text contains, in any form. */
export function canariesIn(text: string): string[] {
  const lowerCase = text.toLowerCase();
  return LOWER_CASE_FORMS.filter((form) => lowerCase.includes(form));
}

/** Returns every text that a program can print of an error, its causes included. */
export function everythingOf(error: unknown): string {
  const lengths = { depth: Infinity, maxStringLength: Infinity, maxArrayLength: Infinity };
  const all = { ...lengths, showHidden: true, getters: true };
  const { message, stack, cause } = error as Partial<Error>;
  return [
    message,
    stack,
    String(error),
    JSON.stringify(error),
    inspect(error),
    inspect(error, all),
    inspect(Object.assign({}, error), all),
    ...(cause === undefined ? [] : [everythingOf(cause)]),
  ].join('\n');
}

/** A secret in base64, alone or after other bytes: its surroundings change only the edges. */
function base64Of(secret: string, encoding: 'base64' | 'base64url'): string[] {
  const behind = (length: number): string => Buffer.from(' '.repeat(length) + secret).toString(encoding);
  return [behind(0).slice(0, -4), behind(1).slice(4, -4), behind(2).slice(4, -4)];
}

/** A secret as a printed buffer shows it. */
function bytesOf(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

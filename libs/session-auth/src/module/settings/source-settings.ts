import { AUTH_TOKEN_HEADER } from '../../contract/wire.js';
import { isClass } from '../../guard/is-class.js';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  type TokenSource,
} from '../../guard/token-source.js';
import { isHeaderName } from '../../guard/http-request.js';
import { invalidOption, optional } from './option-checks.js';

/** Functions that return a source, and are not sources themselves. */
const CREATORS: ReadonlySet<unknown> = new Set([fromHeader, fromBearer, fromCookie, fromPayload]);

/** The option `token`. A source that finds no token in any call would deny every user. */
export const TOKEN = optional([fromHeader(AUTH_TOKEN_HEADER)], (token): readonly TokenSource[] => {
  const sources: unknown[] = [token].flat();
  if (sources.length > 0 && sources.every(isSource)) return sources;
  return invalidOption(
    'token',
    'must be a token source, or a list of them',
    "Give it fromHeader('x-auth-token'), fromBearer(), fromCookie(name) or your own function",
  );
});

function isSource(source: unknown): source is TokenSource {
  const reject = (problem: string, remedy: string): never => invalidOption('token', `has ${problem}`, remedy);
  if (typeof source !== 'function' || isClass(source)) return false;
  if (CREATORS.has(source))
    return reject(`${source.name} itself, which is no source`, `Call it: ${source.name}(...)`);
  if (isAsynchronous(source))
    return reject('an asynchronous source', 'Use a function that returns the token at once');
  const { header } = source as TokenSource;
  if (header === undefined || isHeaderName(header)) return true;
  return reject(
    'a source whose header is not the name of a header',
    'Set it to the one header that the source reads',
  );
}

/** A promise is never a valid token, so that such a source would deny every user. */
function isAsynchronous(source: object): boolean {
  return ['AsyncFunction', 'AsyncGeneratorFunction', 'GeneratorFunction'].includes(source.constructor.name);
}

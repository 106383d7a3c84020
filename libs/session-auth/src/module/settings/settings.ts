import { AUTH_TOKEN_HEADER } from '../../contract/wire.js';
import { isHeaderName } from '../../guard/http-request.js';
import { isClass } from '../../guard/is-class.js';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  fromPayload,
  type TokenSource,
} from '../../guard/token-source.js';
import type { SessionAuthExtras, SessionAuthOptions } from '../options/options.js';
import { invalidOption } from '../../contract/errors.js';
import { ALL_OPTIONS, group, isGroup, type Option, optional, type SettingsOf } from './option-readers.js';
import { EXTRAS, OPTIONS } from './option-table.js';

/** Functions that return a source, and are not sources themselves. */
const CREATORS: ReadonlySet<unknown> = new Set([fromHeader, fromBearer, fromCookie, fromPayload]);

/** The option `token`. A source that finds no token in any call would deny every user. */
const TOKEN = optional([fromHeader(AUTH_TOKEN_HEADER)], (token): readonly TokenSource[] => {
  const sources: unknown[] = [token].flat();
  if (sources.length > 0 && sources.every(isSource)) return sources;
  return invalidOption(
    'token',
    'must be a token source, or a list of them',
    "Give it fromHeader('x-auth-token'), fromBearer(), fromCookie(name) or your own function",
  );
});

const ALL = { ...OPTIONS, token: TOKEN } satisfies Record<keyof SessionAuthOptions, Option<unknown>>;
const SCHEMA = group(ALL);

export type SessionAuthSettings = SettingsOf<typeof ALL>;

export function readExtras(given: SessionAuthExtras): Required<SessionAuthExtras> {
  const { isGlobal, protectAllRoutes, plugins } = given;
  return EXTRAS.read({ isGlobal, protectAllRoutes, plugins }, ALL_OPTIONS);
}

/** @throws InvalidConfigurationError naming the first invalid option */
export function readSettings(options: SessionAuthOptions): SessionAuthSettings {
  rejectMisplacedExtra(options);
  return SCHEMA.read(options, ALL_OPTIONS);
}

const BESIDE_FACTORY = [
  ...['useFactory', 'useClass', 'useExisting', 'imports', 'inject', 'provideInjectionTokensFrom'],
  ...Object.keys(EXTRAS.fallback),
];

/** Nest ignores what is beside the factory of `forRootAsync`, and is neither its own nor an extra. */
export function rejectMisplacedOptions(given: object): void {
  const misplaced = Object.keys(given).filter((name) => !BESIDE_FACTORY.includes(name));
  if (misplaced.length > 0)
    invalidOption(
      misplaced.join(', '),
      'has no effect beside useFactory, useClass or useExisting',
      `Return options from the factory, with baseUrl and apiKey: beside it are only ${BESIDE_FACTORY.join(', ')}`,
    );
}

/** The options of `forRootAsync` are read too late for an extra. */
function rejectMisplacedExtra(options: unknown): void {
  const extra = isGroup(options) && Object.keys(EXTRAS.fallback).find((name) => name in options);
  if (typeof extra !== 'string') return;
  invalidOption(
    `options.${extra}`,
    'is among the options that forRootAsync() has received',
    `Set ${extra} beside useFactory, useClass or useExisting`,
  );
}

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

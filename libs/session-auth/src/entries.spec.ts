import { describe, expect, it } from '@jest/globals';
import * as diagnostics from './diagnostics/index.js';
import * as errors from './errors/index.js';
import * as main from './index.js';
import * as opentelemetry from './opentelemetry/index.js';
import * as redis from './redis/index.js';
import * as sockets from './sockets/index.js';
import * as store from './store/index.js';
import * as swagger from './swagger/index.js';
import * as terminus from './terminus/index.js';
import * as testing from './testing/index.js';

/** Each entry with its values, in alphabetical order: a change of the public surface is a change of this list. */
const ENTRIES: [name: string, entry: object, values: string][] = [
  [
    'nestjs-session-auth',
    main,
    'AuthToken Authorize CclInfo CclScope CurrentUser FreshSession OptionalAuth Public RequireFlags Roles SessionAuthEvents SessionAuthGuard ' +
      'SessionAuthModule SessionAuthService SessionHttpService SubRoles UserRecord fromBearer fromCookie fromHeader fromPayload',
  ],
  ['diagnostics', diagnostics, 'BREAKER_CHANNEL CALL_CHANNEL CHECK_CHANNEL DENIAL_CHANNEL'],
  [
    'errors',
    errors,
    'AccessDeniedError CredentialsRejectedError InvalidConfigurationError InvalidRequestError SessionAuthError SessionAuthErrorFilter ' +
      'SessionRejectedError SessionServiceUnavailableError isSessionAuthError',
  ],
  ['opentelemetry', opentelemetry, 'observeSessionAuth'],
  ['redis', redis, 'RedisSessionStore'],
  ['sockets', sockets, 'SessionSockets'],
  ['store', store, 'SessionStore'],
  ['swagger', swagger, 'ApiSessionAuth SESSION_SCHEME SessionAuthDenial addSessionAuth'],
  ['terminus', terminus, 'SessionAuthHealthIndicator'],
  [
    'testing',
    testing,
    'SESSION_STORE_RULES TestSessions aUserRecord afterDelay bytes bytesThenReset bytesThenSilence drop halfClose hold inTurn json reply ' +
      'silence startSessionService',
  ],
];

describe('the entry', () => {
  it.each(ENTRIES)('%s exports these values and no others', (_name, entry, values) => {
    expect(Object.keys(entry).sort().join(' ')).toBe(values);
  });

  it('nestjs-session-auth exports at most 25 values', () => {
    expect(Object.keys(main).length).toBeLessThanOrEqual(25);
  });
});

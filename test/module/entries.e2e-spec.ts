import { describe, expect, it } from '@jest/globals';
import * as browsers from 'nestjs-session-auth/browsers';
import * as diagnostics from 'nestjs-session-auth/diagnostics';
import * as errors from 'nestjs-session-auth/errors';
import * as main from 'nestjs-session-auth';
import * as opentelemetry from 'nestjs-session-auth/opentelemetry';
import * as redis from 'nestjs-session-auth/redis';
import * as sockets from 'nestjs-session-auth/sockets';
import * as store from 'nestjs-session-auth/store';
import * as swagger from 'nestjs-session-auth/swagger';
import * as terminus from 'nestjs-session-auth/terminus';
import * as testing from 'nestjs-session-auth/testing';

/**
 * Each entry with its values, in alphabetical order: a change of the public surface is a change of this list.
 */
const ENTRIES: [name: string, entry: object, values: string][] = [
  [
    'nestjs-session-auth',
    main,
    'AuthIv AuthToken Authorize CclInfo CclScope CurrentSession CurrentUser FreshSession KeepOpen OptionalAuth Public RequireFlags ' +
      'Roles SessionAuthEvents SessionAuthGuard SessionAuthModule SessionAuthService SessionHttpService SessionRecord SubRoles UserRecord ' +
      'fromBearer fromCookie fromHeader fromPayload',
  ],
  ['browsers', browsers, 'SameOriginGuard'],
  [
    'diagnostics',
    diagnostics,
    'AcknowledgeAudit BREAKER_CHANNEL CALL_CHANNEL CAUSE_CHANNEL CHECK_CHANNEL DENIAL_CHANNEL ReportOnly accessOf currentUserOf redactedHeaders',
  ],
  [
    'errors',
    errors,
    'AccessCheckFailedError AccessDeniedError CredentialsRejectedError InvalidConfigurationError InvalidRequestError SessionAuthError SessionAuthErrorFilter ' +
      'SessionRejectedError SessionServiceUnavailableError TooManyAttemptsError isSessionAuthError',
  ],
  ['opentelemetry', opentelemetry, 'observeSessionAuth'],
  ['redis', redis, 'RedisSessionStore'],
  ['sockets', sockets, 'SessionSockets sessionSockets'],
  ['store', store, 'SessionStore'],
  ['swagger', swagger, 'ApiSessionAuth SESSION_SCHEME SessionAuthDenial addSessionAuth recordSchemaOf'],
  ['terminus', terminus, 'SessionAuthHealthIndicator'],
  [
    'testing',
    testing,
    'TestSessions aUserRecord accessMapOf afterDelay drop findOpenHandlers hold inTurn json reply silence startSessionService',
  ],
];

describe('the entry', () => {
  it.each(ENTRIES)('%s exports these values and no others', (_name, entry, values) => {
    expect(Object.keys(entry).sort().join(' ')).toBe(values);
  });
});

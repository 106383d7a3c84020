import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  Body,
  Catch,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
  Injectable,
  Post,
  ServiceUnavailableException,
  UnauthorizedException,
  UseGuards,
  type ArgumentsHost,
  type ExceptionFilter,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { Roles, SessionAuthGuard, SessionAuthService, type Credentials } from 'nestjs-session-auth';
import { isSessionAuthError, SessionAuthError } from 'nestjs-session-auth/errors';
import { CapturedLog } from '../support/captured-log.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { reply, type ScriptedService } from '../support/scripted-service.js';
import { testbed, type Testbed } from '../support/testbed.js';

/** The errors that the filter or the interceptor of an application has caught. */
class Caught {
  readonly exceptions: unknown[] = [];
}

/** The filter of Nest's documentation, which also records what it catches. */
@Injectable()
abstract class RecordingFilter implements ExceptionFilter {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly caught: Caught,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    this.caught.exceptions.push(exception);
    const { httpAdapter } = this.adapterHost;
    const statusCode = exception instanceof HttpException ? exception.getStatus() : 500;
    httpAdapter.reply(host.switchToHttp().getResponse(), { statusCode, sentBy: 'application' }, statusCode);
  }
}

@Catch(UnauthorizedException)
class UnauthorizedFilter extends RecordingFilter {}

@Catch(SessionAuthError)
class SessionFilter extends RecordingFilter {}

@Controller()
class PlainController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') @UseGuards(SessionAuthGuard) me(): string {
    return 'in';
  }

  @Get('managers') @Roles('manager') managers(): string {
    return 'in';
  }

  @Post('sign-in')
  async signIn(@Body() credentials: Credentials): Promise<string> {
    return (await this.sessions.signIn(credentials)).kind;
  }
}

const signIn = ({ url }: RunningApp, credentials: object = { username: 'ann', password: 'x' }) => {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/sign-in`, { method: 'POST', headers, body: JSON.stringify(credentials) });
};

/** An error of the library: its status, its code, its class, and the class of Nest that it extends. */
type Failure = readonly [number, code: string, name: string, base: Type, header: string | undefined, Ask];
type Ask = (app: RunningApp, service: ScriptedService) => Promise<Response>;

const REJECTED = ['SessionRejectedError', UnauthorizedException, 'www-authenticate'] as const;
const DENIED = ['ACCESS_DENIED', 'AccessDeniedError', ForbiddenException, undefined] as const;
const UNAVAILABLE = ['SessionServiceUnavailableError', ServiceUnavailableException, 'retry-after'] as const;
const OUTAGE = ['SESSION_SERVICE_UNAVAILABLE', ...UNAVAILABLE] as const;
const duringOutage: Ask = (app, service) => {
  service.on('user_details', reply(500));
  return app.get('/me', 'any');
};
const GUARD_FAILURES: readonly Failure[] = [
  [401, 'SESSION_REQUIRED', ...REJECTED, (app) => app.get('/me')],
  [401, 'SESSION_REJECTED', ...REJECTED, (app) => app.get('/me', 'bad')],
  [403, ...DENIED, (app, service) => app.get('/managers', service.signInAs({ role: 'clerk' }))],
  [503, ...OUTAGE, duringOutage],
];

const answered = (status: number): Ask => {
  return (app, service) => {
    service.on('sign_in', reply(status));
    return signIn(app);
  };
};
const CREDENTIALS = ['CredentialsRejectedError', UnauthorizedException, 'www-authenticate'] as const;
const FAILURES: readonly Failure[] = [
  ...GUARD_FAILURES,
  [401, 'CREDENTIALS_REJECTED', ...CREDENTIALS, answered(401)],
  [403, ...DENIED, answered(403)],
  [400, 'INVALID_REQUEST', 'InvalidRequestError', BadRequestException, undefined, (app) => signIn(app, {})],
];

function expectFamily(exception: unknown, [status, code, name, base]: Failure): void {
  expect(exception).toBeInstanceOf(base);
  expect(exception).toBeInstanceOf(SessionAuthError);
  expect(isSessionAuthError(exception)).toBe(true);
  expect(exception).toMatchObject({
    name,
    code,
    statusCode: status,
    ...(NEST_MAJOR === 12 && { errorCode: code }),
  });
  expect((exception as HttpException).getStatus()).toBe(status);
  expect((exception as HttpException).getResponse()).toMatchObject({ statusCode: status, code });
}

type Registration = 'APP_FILTER' | 'useGlobalFilters';

interface Application {
  readonly app: RunningApp;
  readonly service: ScriptedService;
  readonly caught: unknown[];
  readonly log: CapturedLog;
}

async function start(
  bed: Testbed,
  filter?: readonly [Registration, Type<ExceptionFilter>],
): Promise<Application> {
  const service = await bed.service();
  const log = new CapturedLog();
  const appFilters: Provider[] =
    filter?.[0] === 'APP_FILTER' ? [{ provide: APP_FILTER, useClass: filter[1] }] : [];
  const configure = (app: INestApplication): void => {
    if (filter?.[0] === 'useGlobalFilters')
      app.useGlobalFilters(new filter[1](app.get(HttpAdapterHost), app.get(Caught)));
  };
  const providers = [Caught, ...appFilters];
  const app = await bed.sample(
    { baseUrl: service.url, controllers: [PlainController], providers },
    { logger: log, configure },
  );
  return { app, service, caught: app.app.get(Caught).exceptions, log };
}

const FILTERS: [string, Registration | undefined, Type<ExceptionFilter>, caught: readonly number[]][] = [
  ['none', undefined, SessionFilter, []],
  ['one of SessionAuthError', 'APP_FILTER', SessionFilter, [400, 401, 403, 503]],
  ['one of UnauthorizedException', 'useGlobalFilters', UnauthorizedFilter, [401]],
];

describe.each(PLATFORMS)('the errors of the library in an application on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(FILTERS)(
    'a filter of the application receives the errors that it catches, and the others keep status, code and headers, without a log line: %s by %s [P22]',
    async (_which, registration, filter, statuses) => {
      const { app, service, caught, log } = await start(bed, registration && [registration, filter]);
      for (const failure of FAILURES) {
        const [status, code, , , header, ask] = failure;
        const answer = await ask(app, service);
        const isCaught = statuses.includes(status);
        expect([answer.status, await answer.json()]).toEqual([
          status,
          isCaught
            ? { statusCode: status, sentBy: 'application' }
            : expect.objectContaining({ statusCode: status, code }),
        ]);
        if (!isCaught || GUARD_FAILURES.includes(failure)) {
          expect(answer.headers.get('cache-control')).toBe('no-store');
          if (header) expect(answer.headers.get(header)).not.toBeNull();
        }
        const seen = caught.splice(0);
        expect(seen).toHaveLength(isCaught ? 1 : 0);
        if (isCaught) expectFamily(seen[0], failure);
      }
      expect([...log.having('error', ''), ...log.having('warn', 'Error')]).toEqual([]);
    },
  );
});

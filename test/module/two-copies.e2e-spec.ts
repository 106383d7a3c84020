import { describe, expect, it, jest } from '@jest/globals';
import * as nest from '@nestjs/common';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import type * as Library from 'nestjs-session-auth';
import type * as Errors from 'nestjs-session-auth/errors';
import { SessionAuthGuard } from 'nestjs-session-auth';
import * as core from '@nestjs/core';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

/** Another copy of the library, as a second one in `node_modules` would be; both are for one copy of Nest. */
async function anotherCopy(): Promise<typeof Library & typeof Errors> {
  jest.resetModules();
  jest.unstable_mockModule('@nestjs/common', () => nest);
  jest.unstable_mockModule('@nestjs/core', () => core);
  return { ...(await import('nestjs-session-auth')), ...(await import('nestjs-session-auth/errors')) };
}

/** The library with a copy of `@nestjs/common` of its own, as a workspace may install it. */
async function copyWithAnotherNest(): Promise<typeof Library> {
  jest.resetModules();
  jest.unstable_unmockModule('@nestjs/common');
  jest.unstable_mockModule('@nestjs/core', () => core);
  const { HttpException } = await import('@nestjs/common');
  expect(HttpException).not.toBe(nest.HttpException);
  return import('nestjs-session-auth');
}

@Module({})
class Root {}

describe.each(platforms('Express'))(
  'a library with another copy of @nestjs/common than @nestjs/core on %s',
  (_name, platform) => {
    const bed = testbed(platform);

    it('answers denials with their own status, headers and body, and logs no error', async () => {
      const { SessionAuthModule, SessionAuthGuard: Guard, Roles } = await copyWithAnotherNest();

      @Controller()
      @UseGuards(Guard)
      class SampleController {
        @Get('me') me(): string {
          return 'in';
        }

        @Get('boss') @Roles('boss') boss(): string {
          return 'in';
        }
      }
      const service = await bed.service();
      const log = new CapturedLog();
      const imports = [SessionAuthModule.forRoot({ baseUrl: service.url, apiKey: 'application-key' })];
      const app = await bed.app({ module: Root, imports, controllers: [SampleController] }, { logger: log });
      const answerTo = async (path: string, token?: string): Promise<unknown[]> => {
        const answer = await app.get(path, token);
        const { statusCode, code } = (await answer.json()) as { statusCode: number; code: string };
        return [
          answer.status,
          statusCode,
          code,
          ...['cache-control', 'www-authenticate', 'retry-after'].map((name) => answer.headers.get(name)),
        ];
      };
      const challenge = expect.stringContaining('invalid_token');
      const rejected = [401, 401, 'SESSION_REJECTED', 'no-store', challenge, null];
      expect(await answerTo('/me', 'unknown')).toEqual(rejected);
      const denied = [403, 403, 'ACCESS_DENIED', 'no-store', null, null];
      expect(await answerTo('/boss', service.signInAs({ role: 'clerk' }))).toEqual(denied);
      service.setDown(true);
      const down = [
        503,
        503,
        'SESSION_SERVICE_UNAVAILABLE',
        'no-store',
        null,
        expect.stringMatching(/^\d+$/),
      ];
      expect(await answerTo('/me', service.signInAs({}))).toEqual(down);
      expect(log.having('error', 'ExceptionsHandler')).toEqual([]);
    });
  },
);

describe.each(platforms('Express'))(
  'two copies of the library in one application on %s',
  (_name, platform) => {
    const bed = testbed(platform);

    it('answer an error of the one through the other with its own status and headers', async () => {
      const other = await anotherCopy();
      @Controller()
      class FailingController {
        @Get('rejected')
        rejected(): never {
          throw new other.SessionRejectedError();
        }

        @Get('unavailable')
        unavailable(): never {
          throw new other.SessionServiceUnavailableError({ reason: 'rate_limited', retryAfterSeconds: 7 });
        }
      }
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers: [FailingController] });
      const [rejected, unavailable] = await Promise.all([app.get('/rejected'), app.get('/unavailable')]);

      expect([rejected.status, unavailable.status]).toEqual([401, 503]);
      expect(rejected.headers.get('www-authenticate')).toContain('invalid_token');
      expect(unavailable.headers.get('retry-after')).toBe('7');
    });

    it('read the decorators of each other: the guard of one applies @Roles of the other, on a class or a handler', async () => {
      const other = await anotherCopy();

      @Controller()
      @UseGuards(SessionAuthGuard)
      @other.Roles('boss')
      class MixedController {
        @Get('class') byClass(): string {
          return 'in';
        }
      }

      @Controller()
      class OtherController {
        @Get('handler') @other.Roles('boss') byHandler(): string {
          return 'in';
        }
      }
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers: [MixedController, OtherController] });

      for (const path of ['/class', '/handler']) {
        expect((await app.get(path)).status).toBe(401);
        expect((await app.get(path, service.signInAs({ role: 'clerk' }))).status).toBe(403);
        expect((await app.get(path, service.signInAs({ role: 'boss' }))).status).toBe(200);
      }
    });
  },
);

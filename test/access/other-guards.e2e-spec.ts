import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  ForbiddenException,
  Get,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Provider,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SubRoles,
  type SessionAuthOptions,
  type UserRecord,
} from 'nestjs-session-auth';
import { accessOf, AcknowledgeAudit, currentUserOf } from 'nestjs-session-auth/diagnostics';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

const MANAGERS: readonly string[] = ['hiring_manager', 'owner'];

/** Requires a user with a client, where the application's own guard is older than the library. */
@Injectable()
class ClientGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (accessOf(context) === 'public') return true;
    const { user } = context.switchToHttp().getRequest<{ readonly user?: UserRecord }>();
    if (accessOf(context) === 'optional' && !user) return true;
    if (user?.client_name === undefined) throw new ForbiddenException();
    return true;
  }
}

@Injectable()
class CurrentClientGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return accessOf(context) === 'public' || currentUserOf(context) !== undefined;
  }
}

@Injectable()
class LimitGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Injectable()
class AcknowledgedGuard implements CanActivate {
  @AcknowledgeAudit('names the caller in a log line, if it is known')
  canActivate(context: ExecutionContext): boolean {
    const { user } = context.switchToHttp().getRequest<{ readonly user?: UserRecord }>();
    return user?.username !== 'left';
  }
}

/** As of a host, whose plug-in the application is: it attaches the user of its own session. */
@Injectable()
class HostGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    // The user of a session, if there is one.
    const request = context.switchToHttp().getRequest<{ session?: { user?: string }; active?: string }>();
    request.active = request.session?.user ?? 'no user';
    return true;
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
class OpeningsController {
  @Get('public') @Public() open(): string {
    return 'in';
  }

  @Get('optional') @OptionalAuth() optional(): string {
    return 'in';
  }

  @Get('protected') closed(): string {
    return 'in';
  }

  @Get('managers') @Roles(MANAGERS) @SubRoles(['approver'] as const, 'recruiter') managers(): string {
    return 'in';
  }
}

const OURS: Provider = { provide: APP_GUARD, useExisting: SessionAuthGuard };
const globalGuard = (useClass: new () => CanActivate): Provider => ({ provide: APP_GUARD, useClass });

describe.each(PLATFORMS)('guards of an application beside the session guard on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function appWith(providers: Provider[], options: Partial<SessionAuthOptions> = {}) {
    const service = await bed.service();
    const log = new CapturedLog();
    const sample = { baseUrl: service.url, controllers: [OpeningsController], providers, options };
    const app = await bed.sample(sample, { logger: log });
    const statusOf = async (path: string, record?: object): Promise<number> => {
      const token = record && service.signInAs({ username: 'ann', ...record });
      return (await app.get(`/${path}`, token)).status;
    };
    return { statusOf, findings: () => log.lines.filter((line) => line.includes('audit:')) };
  }

  it('learn the access of a handler, and read the user after it [P42]', async () => {
    const { statusOf, findings } = await appWith([OURS, globalGuard(ClientGuard)]);
    const client = { client_name: 'Example' };
    expect(await statusOf('public')).toBe(200);
    expect([await statusOf('optional'), await statusOf('optional', {})]).toEqual([200, 403]);
    expect([await statusOf('protected', client), await statusOf('protected', {})]).toEqual([200, 403]);
    expect(await always(() => statusOf('protected'))).toBe(401);
    expect(findings()).toEqual([]);
  });

  it.each([
    ['reads request.user', [globalGuard(ClientGuard), OURS], 'ClientGuard'],
    ['calls currentUserOf()', [globalGuard(CurrentClientGuard), OURS], 'CurrentClientGuard'],
    ['reads the user before the guards of controllers', [globalGuard(ClientGuard)], 'ClientGuard'],
  ])('are named by the audit if one runs before it and %s [P42]', async (_what, providers, name) => {
    const { statusOf, findings } = await appWith(providers);
    expect(await statusOf('protected', { client_name: 'Example' })).toBe(403);
    expect(findings()).toEqual([
      expect.stringContaining(
        `${name} is a guard of the whole application that runs before SessionAuthGuard`,
      ),
    ]);
    expect(findings()[0]).toContain('{ provide: APP_GUARD, useExisting: SessionAuthGuard }');
  });

  it('are not named if they need no user, or if the finding is acknowledged', async () => {
    const providers = [globalGuard(LimitGuard), globalGuard(HostGuard), globalGuard(AcknowledgedGuard), OURS];
    expect((await appWith(providers, { audit: 'error' })).findings()).toEqual([]);
  });

  it('have rules with lists of names', async () => {
    const { statusOf } = await appWith([]);
    expect(await statusOf('managers', { role: 'owner', sub_role: 'recruiter' })).toBe(200);
    expect(await statusOf('managers', { role: 'hiring_manager', sub_role: 'approver' })).toBe(200);
    expect(await always(() => statusOf('managers', { role: 'new_hire', sub_role: 'approver' }))).toBe(403);
    expect(await statusOf('managers', { role: 'owner', sub_role: 'approver,recruiter' })).toBe(403);
  });
});

describe('a guard that reads the user before it is set', () => {
  it("stops the application with audit: 'error' [P42]", async () => {
    const sample = {
      baseUrl: 'http://127.0.0.1:9',
      controllers: [OpeningsController],
      providers: [globalGuard(ClientGuard), OURS],
      options: { audit: 'error' } as const,
    };
    expect((await bootstrapError(sampleApp(sample))).message).toContain(
      'ClientGuard is a guard of the whole',
    );
  });
});

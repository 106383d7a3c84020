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
  type UserRecord,
} from 'nestjs-session-auth';
import { accessOf } from 'nestjs-session-auth/diagnostics';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
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

describe.each(PLATFORMS)('guards of an application beside the session guard on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function appWith(providers: Provider[]) {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [OpeningsController], providers });
    return async (path: string, record?: object): Promise<number> => {
      const token = record && service.signInAs({ username: 'ann', ...record });
      return (await app.get(`/${path}`, token)).status;
    };
  }

  it('learn the access of a handler, and read the user after it', async () => {
    const statusOf = await appWith([OURS, { provide: APP_GUARD, useClass: ClientGuard }]);
    const client = { client_name: 'Example' };
    expect(await statusOf('public')).toBe(200);
    expect([await statusOf('optional'), await statusOf('optional', {})]).toEqual([200, 403]);
    expect([await statusOf('protected', client), await statusOf('protected', {})]).toEqual([200, 403]);
    expect(await always(() => statusOf('protected'))).toBe(401);
  });

  it('have rules with lists of names', async () => {
    const statusOf = await appWith([]);
    expect(await statusOf('managers', { role: 'owner', sub_role: 'recruiter' })).toBe(200);
    expect(await statusOf('managers', { role: 'hiring_manager', sub_role: 'approver' })).toBe(200);
    expect(await always(() => statusOf('managers', { role: 'new_hire', sub_role: 'approver' }))).toBe(403);
    expect(await statusOf('managers', { role: 'owner', sub_role: 'approver,recruiter' })).toBe(403);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { CurrentUser, Roles, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import { remembering } from '../support/caching-app.js';

interface Loose {
  user: Record<string, unknown> & { ccl_info: Record<string, unknown> };
}

function failures(...changes: (() => unknown)[]): string[] {
  return changes.map((change) => {
    try {
      change();
      return 'done';
    } catch (error) {
      return (error as Error).constructor.name;
    }
  });
}

@Controller()
@UseGuards(SessionAuthGuard)
class MutationController {
  @Get('change')
  change(@Req() { user }: Loose): string[] {
    return failures(
      () => (user.role = 'boss'),
      () => (user.ccl_info.client_id = 1),
      () => (user.ccl_info.extra = 1),
      () => (user.extra = true),
      () => delete user.role,
      () => delete user.ccl_info.client_id,
      () => Object.assign(user.ccl_info, { client_id: 1 }),
      () => Object.defineProperty(user, 'auth_token', { value: 'other' }),
      () => Object.setPrototypeOf(user.ccl_info, { client_id: 1 }) as unknown,
    );
  }

  @Get('replace')
  replace(@Req() request: Loose): string {
    request.user = { role: 'boss', ccl_info: { client_id: 1 } };
    return 'replaced';
  }

  @Get('boss')
  @Roles('boss')
  boss(): string {
    return 'in';
  }

  @Get('own-token')
  ownToken(@CurrentUser() user: UserRecord): string | undefined {
    return user.auth_token;
  }
}

const ANN = { username: 'ann', role: 'clerk', ccl_info: { client_id: 7, company_id: 8 } };

describe.each(PLATFORMS)('the user that comes from memory on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [MeController, MutationController];

  it.each(['/change', '/replace'])('is as the service gave it, whatever a handler tried before: %s', async (path) => {
    const { service, app, status, calls } = await remembering(bed, {}, { controllers });
    const token = service.signInAs(ANN);
    for (let time = 0; time < 2; time += 1) {
      expect(await status(path, token)).toBe(200);
      expect(await (await app.get('/me', token)).json()).toEqual(ANN);
    }

    expect(await status('/boss', token)).toBe(403);
    expect(await (await app.get('/own-token', token)).text()).toBe(token);
    expect(calls()).toBe(1);
  });

  it('tells a handler that it cannot be changed, at the first request and from memory', async () => {
    const { service, app } = await remembering(bed, {}, { controllers });
    const token = service.signInAs(ANN);
    for (let time = 0; time < 2; time += 1) expect(await (await app.get('/change', token)).json()).toEqual(Array(9).fill('TypeError'));
  });
});

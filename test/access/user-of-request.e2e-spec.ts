import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards, type ExecutionContext } from '@nestjs/common';
import { AuthToken, CclInfo, CurrentUser, SessionAuthGuard, UserRecord } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

interface GuardedRequest {
  user?: unknown;
}

/** Stands for another guard that ran before and left a user of its own. */
const ImpostorGuard = {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<GuardedRequest>().user = { username: 'impostor', role: 'admin' };
    return true;
  },
};

@Controller()
@UseGuards(ImpostorGuard, SessionAuthGuard)
class UserController {
  @Get('record')
  record(@Req() request: GuardedRequest, @CurrentUser() user: UserRecord) {
    return {
      user,
      same: request.user === user,
      isRecord: user instanceof UserRecord,
      ids: user.ccl_info instanceof CclInfo,
    };
  }

  @Get('token')
  token(
    @CurrentUser() user: UserRecord,
    @CurrentUser('auth_token') field: string | undefined,
    @AuthToken() presented: string | undefined,
  ) {
    return {
      read: user.auth_token,
      field,
      presented,
      keys: Object.keys(user),
      spread: Object.assign({}, user),
      json: JSON.stringify(user),
    };
  }
}

const ANN = { username: 'ann', role: 'new_hire', ccl_info: { client_id: 7, company_id: 8 } };

describe.each(PLATFORMS)('the user of a request on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function ask(path: string, record: Record<string, unknown>, token?: string): Promise<unknown> {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [UserController] });
    const reply = await app.get(path, service.signInAs(record, token));
    expect(reply.status).toBe(200);
    return reply.json();
  }

  it('is a UserRecord, and replaces any earlier request.user', async () => {
    expect(await ask('/record', ANN)).toEqual({ user: ANN, same: true, isRecord: true, ids: true });
  });

  it('has a readable auth_token that no copy, no listing and no reply contains', async () => {
    expect(await ask('/token', { username: 'ann' }, 'tok-1')).toEqual({
      ...{ read: 'tok-1', field: 'tok-1', presented: 'tok-1' },
      ...{ json: '{"username":"ann"}', spread: { username: 'ann' } },
      keys: expect.not.arrayContaining(['auth_token']) as unknown,
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
} from '@nestjs/common';
import { OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { accessOf, currentUserOf } from 'nestjs-session-auth/diagnostics';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

const seen: string[] = [];

function see(context: ExecutionContext): boolean {
  seen.push(`${accessOf(context)} ${currentUserOf(context)?.username ?? 'none'}`);
  return true;
}

const Seeing = {
  canActivate: see,
  intercept(context: ExecutionContext, next: CallHandler) {
    see(context);
    return next.handle();
  },
};

@Controller()
@UseGuards(Seeing, SessionAuthGuard, Seeing)
@UseInterceptors(Seeing)
class InController {
  @Get('closed') closed(): string {
    return 'in';
  }

  @Get('optional') @OptionalAuth() optional(): string {
    return 'in';
  }

  @Get('open') @Public() open(): string {
    return 'in';
  }
}

describe.each(PLATFORMS)('guards and interceptors of an application on %s', (_name, platform) => {
  const options = { loadUser: ({ username }: { username?: string }) => ({ username: `own ${username}` }) };
  const shared = sharedSample({ controllers: [InController], options }, platform);

  it("get the application's user of a call after the session guard, and the access of its handler", async () => {
    const token = shared.service.signInAs({ username: 'ann' });
    for (const path of ['/closed', '/optional', '/open'])
      expect((await shared.app.get(path, token)).status).toBe(200);
    expect((await shared.app.get('/optional', 'refused')).status).toBe(200);
    expect(seen.splice(0)).toEqual([
      ...['protected none', 'protected own ann', 'protected own ann'],
      ...['optional none', 'optional own ann', 'optional own ann'],
      ...Array<string>(3).fill('public none'),
      ...Array<string>(3).fill('optional none'),
    ]);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Roles, SessionAuthEvents, SessionAuthGuard, type SessionAuthDecision } from 'nestjs-session-auth';
import { accessMapOf } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';

interface OldRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: unknown;
}

/** The guard that is to be replaced. */
@Injectable()
class OldGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<OldRequest>();
    const id = request.headers['x-old-user'];
    if (id === undefined) throw new UnauthorizedException('old');
    request.user = { id };
    return true;
  }
}

@Controller()
class OpeningsController {
  @Get('openings')
  list(@Req() { user }: OldRequest): unknown {
    return user;
  }

  @Get('secrets')
  @Roles('boss')
  secrets(@Req() { user }: OldRequest): unknown {
    return user;
  }
}

@WebSocketGateway()
class OpeningsGateway {
  @SubscribeMessage('openings')
  message(): string {
    return 'in';
  }
}

const OLD = { provide: APP_GUARD, useClass: OldGuard };
const OURS = { provide: APP_GUARD, useExisting: SessionAuthGuard };

describe.each(PLATFORMS)('reportOnly on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [OpeningsController];

  it.each([
    ['before', [OURS, OLD]],
    ['behind', [OLD, OURS]],
  ])('%s an older guard leaves its answers, and says what it would deny', async (_order, providers) => {
    const service = await bed.service();
    const app = await bed.sample({
      baseUrl: service.url,
      controllers,
      providers,
      options: { reportOnly: true },
    });
    const decisions: SessionAuthDecision[] = [];
    const events = app.app.get(SessionAuthEvents);
    events.decisions$.subscribe((decision) => decisions.push(decision));
    const asked = async (path: string, token?: string): Promise<unknown> => {
      const count = decisions.length;
      const response = await app.get(path, token, { 'x-old-user': 'ann' });
      await until('a decision', () => decisions.length > count);
      expect(response.headers.get('vary') ?? '').not.toMatch(/x-auth-token/i);
      expect([response.status, await response.json()]).toEqual([200, { id: 'ann' }]);
      const { isAllowed, wouldDeny, outcome, code, rule } = decisions.at(-1) ?? {};
      expect([isAllowed, decisions.length]).toEqual([true, count + 1]);
      return { wouldDeny, outcome, code, rule };
    };
    const token = service.signInAs({});

    expect(await asked('/openings', token)).toEqual({ outcome: 'authenticated' });
    expect(await asked('/openings')).toEqual({
      wouldDeny: true,
      outcome: 'unauthenticated',
      code: 'SESSION_REQUIRED',
    });
    expect(await asked('/secrets', token)).toEqual({
      wouldDeny: true,
      outcome: 'forbidden',
      code: 'ACCESS_DENIED',
      rule: '@Roles(boss)',
    });
    service.on('user_details', reply(500));
    expect(await asked('/openings', service.signInAs({}))).toMatchObject({
      wouldDeny: true,
      outcome: 'unavailable',
    });
    const denied = await app.get('/openings', token);
    expect([denied.status, await denied.json()]).toMatchObject([401, { message: 'old' }]);
    expect(events.serviceStatus.reportOnly).toBe(true);
    expect(accessMapOf(app.app).map(({ access, isOpen }) => [access, isOpen])).toEqual([
      ['public', true],
      ['public', true],
    ]);
  });

  it('is never the default', async () => {
    const service = await bed.service();
    // Decided at the start: each application decides again.
    for (let start = 0; start < 10; start += 1) {
      const app = await bed.sample({
        baseUrl: service.url,
        controllers,
        options: { protectAllRoutes: true },
      });
      for (let call = 0; call < 10; call += 1) expect((await app.get('/openings')).status).toBe(401);
      expect(app.app.get(SessionAuthEvents).serviceStatus.reportOnly).toBeUndefined();
    }
  });
});

describe('reportOnly at the start', () => {
  const baseUrl = 'http://127.0.0.1:1';

  it('is refused beside a gateway', async () => {
    const root = sampleApp({ baseUrl, providers: [OpeningsGateway], options: { reportOnly: true } });
    expect((await bootstrapError(root)).message).toMatch(/^reportOnly .*OpeningsGateway\.message is none/);
  });

  it('is refused beside the option authority', async () => {
    const root = sampleApp({ baseUrl, options: { reportOnly: true, authority: () => 'default' } });
    expect((await bootstrapError(root)).message).toMatch(/^reportOnly works with one session service only/);
  });
});

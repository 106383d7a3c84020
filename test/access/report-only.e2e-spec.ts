import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, Req, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Authorize,
  Roles,
  SessionAuthEvents,
  SessionAuthGuard,
  type SessionAuthDecision,
  SessionAuthModule,
} from 'nestjs-session-auth';
import { ReportOnly } from 'nestjs-session-auth/diagnostics';
import { accessMapOf } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';

interface OldRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: unknown;
}

/** The guard that is to be replaced, which looks its user up. */
@Injectable()
class OldGuard {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<OldRequest>();
    const id = await Promise.resolve(request.headers['x-old-user']);
    if (id !== undefined) request.user = { id };
    return id !== undefined;
  }
}

@Controller()
class OpeningsController {
  @Get('openings') list(@Req() { user }: OldRequest): unknown {
    return user;
  }

  @Get('secrets') @Roles('boss') secrets(@Req() { user }: OldRequest): unknown {
    return user;
  }
}

const broken = (): never => {
  throw new TypeError('a secret');
};

@Controller('failing')
class FailingController {
  @Get() @Authorize(broken) @ReportOnly() failing(): string {
    return 'in';
  }

  @Get('closed') closed(): string {
    return 'in';
  }
}

@ReportOnly()
@Roles('boss')
@Controller('trial')
class TrialController {
  @Get() trial(): string {
    return 'in';
  }
}

@WebSocketGateway()
class OpeningsGateway {
  @SubscribeMessage('openings') @ReportOnly() message(): string {
    return 'in';
  }
}

@Controller()
class RouteAndMessage {
  @Get('openings') @MessagePattern('openings') @ReportOnly() list(): string {
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
  ])('%s another guard leaves its answers, and says what it would deny', async (_order, providers) => {
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
    const [wouldDeny, rule] = [true, '@Roles(boss)'];
    const required = { wouldDeny, outcome: 'unauthenticated', code: 'SESSION_REQUIRED' };
    expect(await asked('/openings')).toEqual(required);
    const forbidden = { wouldDeny, outcome: 'forbidden', code: 'ACCESS_DENIED', rule };
    expect(await asked('/secrets', token)).toEqual(forbidden);
    service.on('user_details', reply(500));
    expect(await asked('/openings', service.signInAs({}))).toMatchObject({
      wouldDeny,
      outcome: 'unavailable',
    });
    const denied = await app.get('/openings', token);
    expect([denied.status, await denied.json()]).toMatchObject([403, { message: 'Forbidden resource' }]);
    expect(events.serviceStatus.reportOnly).toBe(true);
    const open = { access: 'public', isOpen: true };
    expect(accessMapOf(app.app)).toMatchObject([open, open]);
  });

  it('is for single routes and controllers, by a decorator', async () => {
    const service = await bed.service();
    const log = new CapturedLog();
    const some = [FailingController, TrialController];
    const sample = { baseUrl: service.url, controllers: some, options: { protectAllRoutes: true } };
    const app = await bed.sample(sample, { logger: log });
    const decisions: SessionAuthDecision[] = [];
    app.app.get(SessionAuthEvents).decisions$.subscribe((decision) => decisions.push(decision));
    const token = service.signInAs({});

    for (const [path, code, rule] of [
      ['/failing', 'ACCESS_CHECK_FAILED', '@Authorize(broken)'],
      ['/trial', 'ACCESS_DENIED', '@Roles(boss)'],
    ] as const) {
      expect((await app.get(path, token)).status).toBe(200);
      await until('a decision', () => decisions.length > 0);
      expect(decisions.splice(0)).toMatchObject([{ isAllowed: true, wouldDeny: true, code, rule }]);
    }
    expect(await always(async () => (await app.get('/failing/closed')).status)).toBe(401);
    expect(decisions.every(({ isAllowed, wouldDeny }) => !isAllowed && wouldDeny === undefined)).toBe(true);
    expect(log.having('warn', 'rule failed')).toEqual([
      expect.stringContaining(
        'FailingController.failing failed with TypeError. Its calls pass, and get 503 without reportOnly (ACCESS_CHECK_FAILED)',
      ),
    ]);
    expect(log.having('warn', 'report only')).toEqual([
      expect.stringContaining('FailingController.failing, TrialController.trial is open unless'),
    ]);
    expect(app.app.get(SessionAuthEvents).serviceStatus.reportOnly).toBe(true);
    expect(accessMapOf(app.app).map(({ call, isOpen }) => [call, isOpen])).toEqual([
      ['GET /failing', true],
      ['GET /failing/closed', false],
      ['GET /trial', true],
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

@Module({})
class OtherModule {}

describe('reportOnly at the start', () => {
  const baseUrl = 'http://127.0.0.1:1';

  it('is refused of a gateway', async () => {
    const { message } = await bootstrapError(sampleApp({ baseUrl, providers: [OpeningsGateway] }));
    expect(message).toContain('routes of controllers only, and OpeningsGateway.message is none');
  });

  it('is refused of a route that is a message handler too', async () => {
    const { message } = await bootstrapError(sampleApp({ baseUrl, controllers: [RouteAndMessage] }));
    expect(message).toContain('routes of controllers only, and RouteAndMessage.list is more than that');
  });

  it('is refused beside another registration', async () => {
    const other = SessionAuthModule.forRoot({ baseUrl, apiKey: 'key', isGlobal: false });
    const imports = [{ module: OtherModule, imports: [other] }];
    const root = sampleApp({ baseUrl, imports, options: { reportOnly: true } });
    expect((await bootstrapError(root)).message).toMatch(/^reportOnly works with one session service only/);
  });
});

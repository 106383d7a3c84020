import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Authorize, OptionalAuth, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { AcknowledgeAudit } from 'nestjs-session-auth/diagnostics';
import { platforms } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

type Decorator = ClassDecorator & MethodDecorator;

@Injectable()
class OwnGuard extends SessionAuthGuard {}

let asked = 0;
const counted = Authorize(() => {
  asked += 1;
  return true;
});

@Controller()
@UseGuards(SessionAuthGuard, OwnGuard)
@counted
class OverguardedController {
  @Get('ruled') @UseGuards(OwnGuard) @counted @Roles('boss') @UseGuards(SessionAuthGuard) ruled(): string {
    return 'ruled';
  }

  @Get('optional') @OptionalAuth() @UseGuards(SessionAuthGuard) optional(): string {
    return 'optional';
  }
}

describe.each(platforms('Express'))('a handler that has the guard many times on %s', (_name, platform) => {
  const bed = testbed(platform);
  const overguarded = {
    controllers: [OverguardedController],
    providers: [{ provide: APP_GUARD, useClass: OwnGuard }],
    options: { protectAllRoutes: true },
  };

  it('is checked once, and each of its rules is evaluated once', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, ...overguarded });
    asked = 0;

    expect((await app.get('/ruled', service.signInAs({ role: 'boss' }))).status).toBe(200);
    expect(asked).toBe(1);
    expect(service.requests).toHaveLength(1);
    expect((await app.get('/ruled', service.signInAs({ role: 'clerk' }, 'clerk'))).status).toBe(403);
    expect((await app.get('/ruled')).status).toBe(401);
    expect((await app.get('/optional', service.signInAs({}))).status).toBe(200);
    expect((await app.get('/optional', 'refused')).status).toBe(200);
    expect(service.requests).toHaveLength(4);
  });
});

/** As a decorator of an application that sets the guards in place of adding to them. */
const onlyGuard =
  (guard: Type): Decorator =>
  (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) =>
    Reflect.defineMetadata('__guards__', [guard], (descriptor?.value ?? target) as object);

@Injectable()
class AdmitsAll implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller()
class ReplacedOnHandler {
  @Get('ruled') @onlyGuard(AdmitsAll) @Roles('boss') ruled(): string {
    return 'ruled';
  }
}

@Roles('boss')
class RuledBase {
  @Get('ruled') ruled(): string {
    return 'ruled';
  }
}

@Controller()
@onlyGuard(AdmitsAll)
class ReplacedOnSubclass extends RuledBase {}

@Injectable()
class NoInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    return next.handle();
  }
}

@Injectable()
class OpeningsService {
  @Roles('boss') list(): string {
    return 'all';
  }

  @UseInterceptors(NoInterceptor) @Roles('boss') intercepted(): string {
    return 'all';
  }

  @AcknowledgeAudit('called by a framework') @Roles('boss') acknowledged(): string {
    return 'all';
  }
}

describe('a rule that Nest would not enforce', () => {
  const bed = testbed();

  it.each([ReplacedOnHandler, ReplacedOnSubclass])(
    'because another decorator replaces the guards stops the start: %p [P71]',
    async (controller) => {
      const service = await bed.service();
      const root = sampleApp({ baseUrl: service.url, controllers: [controller] });
      expect((await bootstrapError(root)).message).toContain(
        `${controller.name}.ruled is not guarded: a decorator above its rule replaces the guards`,
      );
      const app = await bed.sample({
        baseUrl: service.url,
        controllers: [controller],
        options: { protectAllRoutes: true },
      });
      expect((await app.get('/ruled')).status).toBe(401);
    },
  );

  it('because its method is no handler is named by the audit [P71]', async () => {
    const service = await bed.service();
    const root = sampleApp({
      baseUrl: service.url,
      providers: [OpeningsService],
      options: { audit: 'error' },
    });
    const { message } = await bootstrapError(root);
    expect(
      message.match(/OpeningsService\.\w+(?= has a rule, which has no effect: it is no handler)/g),
    ).toEqual(['list', 'intercepted'].map((name) => `OpeningsService.${name}`));
  });
});

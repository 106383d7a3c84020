import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, Scope, UseGuards, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Authorize, CclScope, FreshSession, Public, RequireFlags, Roles, SessionAuthGuard, SubRoles } from 'nestjs-session-auth';
import { PLATFORMS, type RunningApp } from '../../support/platforms.js';
import { testbed } from '../../support/testbed.js';
import { outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Controller('list')
class RuleOnHandler {
  @Get() @Roles('boss') listForBosses(): string {
    return visit('RuleOnHandler.listForBosses');
  }
}

@Controller('list')
@Roles('boss')
class RuleOnClass {
  @Get() listForBosses(): string {
    return visit('RuleOnClass.listForBosses');
  }

  @Get('about') @Public() about(): string {
    return 'about';
  }
}

@Roles('boss')
abstract class Base {
  @Get() listForBosses(): string {
    return visit('Base.listForBosses');
  }
}

@Controller('list')
class Derived extends Base {}

function lists(parent: new () => object): Type {
  @Controller('list')
  class Mixin extends parent {
    @Get() @Authorize(({ role }) => role === 'boss') listForBosses(): string {
      return visit('Mixin.listForBosses');
    }
  }
  return Mixin;
}

@Controller('list')
class Plain {
  @Get() list(): string {
    return visit('Plain.list');
  }
}

@Controller({ path: 'list', scope: Scope.REQUEST })
class RequestScoped {
  @Get() @FreshSession() list(): string {
    return visit('RequestScoped.list');
  }
}

@Controller('list')
class OpenClass {
  @Get() @SubRoles('approver') list(): string {
    return visit('OpenClass.list');
  }
}

@Controller('list')
class ManyRules {
  @Get() @RequireFlags('ats_enabled') @CclScope({ client_id: 'clientId' }) list(): string {
    return visit('ManyRules.list');
  }
}

@Injectable()
class OwnGuard extends SessionAuthGuard {}

@Controller('list')
@UseGuards(OwnGuard)
class OwnlyGuarded {
  @Get() @Roles('boss') listForBosses(): string {
    return visit('OwnlyGuarded.listForBosses');
  }
}

const call = (app: RunningApp, token?: string) => app.get('/list', token);
const withController = (controller: Type, more: Partial<AuditedApp> = {}): (() => AuditedApp) => {
  return () => ({ controllers: [controller], call, ...more });
};

@Module({})
class FeatureModule {}
const feature = { module: FeatureModule, controllers: [RuleOnHandler] };
const appGuard = { provide: APP_GUARD, useClass: SessionAuthGuard };

describe.each(PLATFORMS)('an application with routes on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a handler', withController(RuleOnHandler), ['RuleOnHandler.listForBosses']],
    ['a rule on a class', withController(RuleOnClass), ['RuleOnClass.listForBosses']],
    ['a rule on a class that the controller extends', withController(Derived), ['Base.listForBosses']],
    ['a rule in a mixin', withController(lists(Object)), ['Mixin.listForBosses']],
    ['a rule in a controller built for each request', withController(RequestScoped), ['RequestScoped.list']],
    ['a guard that extends the guard', withController(OwnlyGuarded), ['OwnlyGuarded.listForBosses']],
    ['a rule in a dynamic module', () => ({ imports: [feature], call }), ['RuleOnHandler.listForBosses']],
    ['protectAllRoutes', withController(Plain, { options: { protectAllRoutes: true } }), ['Plain.list']],
    ['APP_GUARD', withController(Plain, { providers: [appGuard] }), ['Plain.list']],
    ['useGlobalGuards()', withController(Plain, { configure: (app) => app.useGlobalGuards(app.get(SessionAuthGuard)) }), ['Plain.list']],
    ['rules that no caller here meets', withController(OpenClass), []],
    ['several rules that no caller here meets', withController(ManyRules), []],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service(), platform)).toEqual({ open: [], served, named: [], isStopped: false });
  });
});

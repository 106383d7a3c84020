import { describe, expect, it } from '@jest/globals';
import { Controller, Scope, UseGuards, type INestApplication, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { testbed } from '../../support/testbed.js';
import { hybrid, outcomeOf, visit, type AuditedApp } from './audited-app.js';

@Controller()
class RuledMessage {
  @MessagePattern('say') @Roles('boss') sayForBosses(): string {
    return visit('RuledMessage.sayForBosses');
  }
}

@Controller()
@Roles('boss')
class RuledMessages {
  @MessagePattern('say') sayForBosses(): string {
    return visit('RuledMessages.sayForBosses');
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

@Controller()
class PlainMessage {
  @MessagePattern('say') say(): string {
    return visit('PlainMessage.say');
  }

  @MessagePattern('open') @Public() open(): string {
    return 'open';
  }
}

@Controller({ scope: Scope.REQUEST })
class RequestScopedMessage {
  @MessagePattern('say') say(): string {
    return visit('RequestScopedMessage.say');
  }
}

@Controller({ scope: Scope.REQUEST })
class BoundPerMessage extends RequestScopedMessage {
  constructor() {
    super();
    this.say = this.say.bind(this);
  }
}

class UnknownGuard extends SessionAuthGuard {}

@Controller({ scope: Scope.REQUEST })
class BoundWithGuard extends RequestScopedMessage {
  constructor() {
    super();
    this.say = this.say.bind(this);
    UseGuards(UnknownGuard)(Reflect.get(this, 'say'));
  }
}

@Controller({ scope: Scope.REQUEST })
class BoundWithRule extends RuledMessage {
  constructor() {
    super();
    this.sayForBosses = this.sayForBosses.bind(this);
  }
}

abstract class Base {
  @MessagePattern('say') say(): string {
    return visit('Base.say');
  }
}

@Controller()
class Derived extends Base {}

@Controller()
@UseGuards(SessionAuthGuard)
class GuardedMessage {
  @MessagePattern('say') say(): string {
    return visit('GuardedMessage.say');
  }
}

const withGlobalGuard = { providers: [{ provide: APP_GUARD, useClass: SessionAuthGuard }] };
const closed = { options: { protectAllRoutes: true } };

const saying = (controller: Type, more: Partial<AuditedApp> = {}, inherit?: boolean): AuditedApp =>
  hybrid(controller, ['say'], more, inherit);

const guarding = {
  configure: (app: INestApplication) => void app.useGlobalGuards(app.get(SessionAuthGuard)),
};

describe('a hybrid application', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a handler', () => saying(RuledMessage), ['RuledMessage.sayForBosses']],
    ['a rule on a class', () => saying(RuledMessages), ['RuledMessages.sayForBosses']],
    ['a guard on a class', () => saying(GuardedMessage), ['GuardedMessage.say']],
    ['a rule, and inheritAppConfig', () => saying(RuledMessage, closed, true), ['RuledMessage.sayForBosses']],
    ['protectAllRoutes', () => saying(PlainMessage, closed), ['PlainMessage.say']],
    [
      'protectAllRoutes, and inheritAppConfig',
      () => saying(PlainMessage, closed, true),
      ['PlainMessage.say'],
    ],
    [
      'protectAllRoutes, and inheritAppConfig: false',
      () => saying(PlainMessage, closed, false),
      ['PlainMessage.say'],
    ],
    [
      'protectAllRoutes, and a controller for each message',
      () => saying(RequestScopedMessage, closed),
      ['RequestScopedMessage.say'],
    ],
    [
      'protectAllRoutes, and a controller for each message that binds its method',
      () => saying(BoundPerMessage, closed),
      ['RequestScopedMessage.say'],
    ],
    [
      'protectAllRoutes, and a controller for each message that binds a method with a rule',
      () => saying(BoundWithRule, closed),
      ['RuledMessage.sayForBosses'],
    ],
    [
      'protectAllRoutes, and a controller for each message that names a guard for the method that it binds',
      () => saying(BoundWithGuard, closed),
      ['RequestScopedMessage.say'],
    ],
    ['protectAllRoutes, and a handler that is inherited', () => saying(Derived, closed), ['Base.say']],
    ['APP_GUARD', () => saying(PlainMessage, withGlobalGuard), ['PlainMessage.say']],
    ['useGlobalGuards()', () => saying(PlainMessage, guarding), ['PlainMessage.say']],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: [],
      served,
      named: [],
      isStopped: false,
    });
  });

  it('leaves message handlers without a rule open if the application has no guard, also after one that has', async () => {
    await outcomeOf(() => saying(PlainMessage, closed), await bed.service());
    const create = () => saying(PlainMessage);
    expect(await outcomeOf(create, await bed.service())).toEqual({
      open: ['PlainMessage.say'],
      served: ['PlainMessage.say'],
      named: [],
      isStopped: false,
    });
  });
});

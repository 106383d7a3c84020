import { describe, expect, it } from '@jest/globals';
import { Controller, Get, SetMetadata, UseGuards, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { CclScope, Public, Roles } from '../guard/access.decorators.js';
import { handlersIn } from '../guard/handlers.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { auditContextOf } from './audit-context.js';
import { OTHER_KINDS } from './other-kinds.js';
import { missingParametersOf } from './parameters.js';

const CONTEXT = auditContextOf(new ModulesContainer(), new ApplicationConfig(), OTHER_KINDS);

/** The missing parameters of each handler of a controller that has them. */
function missing(owner: Type, prefixes = ['']): unknown {
  const context = { ...CONTEXT, prefixes: new Map([[owner, prefixes]]) };
  const found = handlersIn(owner).map(
    (handler) => [handler.name, missingParametersOf(handler, context)] as const,
  );
  return Object.fromEntries(found.filter(([, parameters]) => parameters.length > 0));
}

@Controller('clients')
class Scoped {
  @Get(':clientId')
  @CclScope({ client_id: 'clientId' })
  right(): string {
    return 'right';
  }
  @Get([':clientId/one', 'two'])
  @CclScope({ client_id: 'clientId' })
  @Roles('admin')
  @CclScope({ client_id: 'clientId' })
  half(): string {
    return 'half';
  }
  @Get(':id')
  @CclScope({ client_id: 'clientId', company_id: 'companyId' })
  both(): string {
    return 'both';
  }
  @Get('ruled')
  @Roles('admin')
  ruled(): string {
    return 'ruled';
  }
  @MessagePattern('message')
  @SetMetadata('path', 'message')
  @CclScope({ client_id: 'clientId' })
  message(): string {
    return 'message';
  }
}

@Controller('clients')
@CclScope({ client_id: 'clientId' })
class ScopedClass {
  @Get('closed')
  closed(): string {
    return 'closed';
  }
  @Get('open')
  @Public()
  open(): string {
    return 'open';
  }
}

@Controller('clients')
@UseGuards(SessionAuthGuard)
class Guarded {
  @Get()
  plain(): string {
    return 'plain';
  }
}

describe('the missing parameters of a route', () => {
  it('are those that its rule reads and one of its paths does not have, each once', () => {
    expect(missing(Scoped)).toEqual({
      half: [{ parameter: 'clientId', path: '/clients/two' }],
      both: [
        { parameter: 'clientId', path: '/clients/:id' },
        { parameter: 'companyId', path: '/clients/:id' },
      ],
    });
  });

  it('are none if a prefix has them', () => {
    expect(missing(Scoped, ['/:companyId/:clientId'])).toEqual({});
    expect(missing(ScopedClass, ['/:clientId', ''])).toEqual({
      closed: [{ parameter: 'clientId', path: '/clients/closed' }],
    });
  });

  it('are none for a public route, and for one without requirements', () => {
    expect(missing(ScopedClass)).toEqual({ closed: [{ parameter: 'clientId', path: '/clients/closed' }] });
    expect(missing(Guarded)).toEqual({});
  });
});

import { Controller, Get, UseGuards } from '@nestjs/common';
import { FreshSession, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';

/** `@FreshSession()` on handlers. */
@Controller('handler')
@UseGuards(SessionAuthGuard)
export class HandlerController {
  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }

  @Get('recent')
  @FreshSession({ maxAgeMs: 3_000 })
  recent(): string {
    return 'in';
  }

  @Get('boss')
  @FreshSession()
  @Roles('boss')
  boss(): string {
    return 'in';
  }
}

/** `@FreshSession()` on a controller. */
@Controller('all')
@UseGuards(SessionAuthGuard)
@FreshSession()
export class FreshController {
  @Get('fresh')
  fresh(): string {
    return 'in';
  }

  @Get('roles')
  @Roles('clerk')
  roles(): string {
    return 'in';
  }

  @Get('recent')
  @FreshSession({ maxAgeMs: 3_000 })
  recent(): string {
    return 'in';
  }
}

/** `@FreshSession()` on a handler of an open controller. */
@Controller('open')
@UseGuards(SessionAuthGuard)
@Public()
export class OpenController {
  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }

  @Get('public')
  open(): string {
    return 'in';
  }
}

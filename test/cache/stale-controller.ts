import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { FreshSession, Roles, SessionAuthGuard } from 'nestjs-session-auth';

/** Routes that take a stale session, and routes that do not. */
@Controller()
@UseGuards(SessionAuthGuard)
export class StaleController {
  @Get('stale')
  stale(@Req() request: { sessionIsStale?: unknown }): { stale: unknown } {
    return { stale: request.sessionIsStale ?? 'absent' };
  }

  @Get('boss')
  @Roles('boss')
  boss(): string {
    return 'in';
  }

  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }

  @Get('recent')
  @FreshSession({ maxAgeMs: 60_000 })
  recent(): string {
    return 'in';
  }
}

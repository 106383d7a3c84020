import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Public } from 'nestjs-session-auth';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';

/** Whether this process answers, and what its requests have shown of the session service. Neither asks anybody. */
@Public()
@ApiTags('health')
@Controller('api/health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly sessions: SessionAuthHealthIndicator,
  ) {}

  @Get()
  @ApiOkResponse({ description: 'The process answers' })
  read(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('session-service')
  @HealthCheck()
  readSessionService(): Promise<HealthCheckResult> {
    return this.health.check([() => this.sessions.isHealthy('session-service')]);
  }
}

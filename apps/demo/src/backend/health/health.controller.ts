import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Public } from 'nestjs-session-auth';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';

/**
 * Health of this process, and of the session service as the latest checks have shown it. Neither makes a
 * call.
 */
@Public()
@ApiTags('health')
@Controller('api/health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly sessions: SessionAuthHealthIndicator,
  ) {}

  @Get()
  @ApiOkResponse({ description: 'The process is up' })
  read(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('session-service')
  @HealthCheck()
  readSessionService(): Promise<HealthCheckResult> {
    return this.health.check([() => this.sessions.isHealthy('session-service')]);
  }
}

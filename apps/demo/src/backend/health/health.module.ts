import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';
import { HealthController } from './health.controller.js';

/** Health checks, for load balancers and people. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [SessionAuthHealthIndicator],
})
export class HealthModule {}

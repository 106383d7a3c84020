import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { SessionAuthModule } from 'nestjs-session-auth';
import { type BackendConfig } from './backend-config.js';
import { BenefitsController } from './benefits/benefits.controller.js';
import { CompanyReportController } from './companies/company-report.controller.js';
import { GreetingController } from './greeting/greeting.controller.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { NewsController } from './news/news.controller.js';
import { OnboardingController } from './onboarding/onboarding.controller.js';
import { OpeningsModule } from './openings/openings.module.js';
import { PayrollController } from './payroll/payroll.controller.js';
import { SessionModule } from './session/session.module.js';

/** A hiring backend: every route requires a session, except those marked `@Public()` or `@OptionalAuth()`. */
@Module({
  imports: [
    SessionAuthModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService<BackendConfig, true>) => ({
        baseUrl: config.get('SESSION_SERVICE_URL', { infer: true }),
        apiKey: config.get('SESSION_SERVICE_API_KEY', { infer: true }),
        cache: config.get('SESSION_CACHE', { infer: true }),
        // The demo has three users: failures of as many open its breaker.
        breaker: { minimumCalls: 3 },
      }),
      protectAllRoutes: true,
    }),
    SessionModule,
    OpeningsModule,
    HealthModule,
    MetricsModule,
  ],
  controllers: [
    GreetingController,
    NewsController,
    OnboardingController,
    CompanyReportController,
    BenefitsController,
    PayrollController,
  ],
})
export class BackendModule {
  /** Uses the settings as they are: they have been read from the environment and checked. */
  static with(config: BackendConfig): DynamicModule {
    return {
      module: BackendModule,
      imports: [
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [() => ({ ...config })],
        }),
      ],
    };
  }
}

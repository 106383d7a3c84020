import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { SessionAuthModule } from 'nestjs-session-auth';
import { HealthController } from './health/health.controller.js';
import { OnboardingController } from './onboarding/onboarding.controller.js';
import { OpeningsModule } from './openings/openings.module.js';
import { PageModule } from './page/page.module.js';
import { SessionModule } from './session/session.module.js';
import { type DemoConfig } from './settings/demo-config.js';

/** A hiring backend: every route asks for a session, except those marked `@Public()`. */
@Module({
  imports: [
    SessionAuthModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService<DemoConfig, true>) => ({
        baseUrl: config.get('SESSION_SERVICE_URL', { infer: true }),
        apiKey: config.get('SESSION_SERVICE_API_KEY', { infer: true }),
      }),
      protectAllRoutes: true,
    }),
    SessionModule,
    OpeningsModule,
    PageModule,
  ],
  controllers: [OnboardingController, HealthController],
})
export class DemoModule {
  /** Takes the settings as they are: the environment was read, and checked, before. */
  static with(config: DemoConfig): DynamicModule {
    return {
      module: DemoModule,
      imports: [ConfigModule.forRoot({ isGlobal: true, ignoreEnvFile: true, skipProcessEnv: true, load: [() => ({ ...config })] })],
    };
  }
}

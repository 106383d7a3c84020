import { Module } from '@nestjs/common';
import { ApplicationKeys } from './application-keys.js';
import { ApplicationRepository } from './application-repository.js';

/** The applications that may call the service. Their keys are read once, at startup. */
@Module({
  providers: [
    ApplicationRepository,
    {
      provide: ApplicationKeys,
      inject: [ApplicationRepository],
      useFactory: async (applications: ApplicationRepository) =>
        new ApplicationKeys(await applications.keyDigests()),
    },
  ],
  exports: [ApplicationKeys],
})
export class ApplicationKeysModule {}

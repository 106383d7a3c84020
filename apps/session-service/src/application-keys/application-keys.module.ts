import { Module } from '@nestjs/common';
import { ApplicationKeys } from './application-keys.js';
import { ApplicationRepository } from './application-repository.js';

/** Which applications may call. The keys are read once, at start. */
@Module({
  providers: [
    ApplicationRepository,
    {
      provide: ApplicationKeys,
      inject: [ApplicationRepository],
      useFactory: async (applications: ApplicationRepository) => new ApplicationKeys(await applications.keyDigests()),
    },
  ],
  exports: [ApplicationKeys],
})
export class ApplicationKeysModule {}

import { Module } from '@nestjs/common';
import { Clock, SystemClock } from './clock.js';
import { ExpiredSessionPurge } from './expired-session-purge.js';
import { SessionRepository } from './session-repository.js';
import { Sessions } from './sessions.js';

/** Sessions of signed-in users. */
@Module({
  providers: [SessionRepository, Sessions, ExpiredSessionPurge, { provide: Clock, useClass: SystemClock }],
  exports: [Sessions],
})
export class SessionsModule {}

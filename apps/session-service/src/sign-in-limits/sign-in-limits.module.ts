import { Module } from '@nestjs/common';
import { MonotonicClock, ProcessClock } from './monotonic-clock.js';
import { LimitedCheck } from './limited-check.js';
import { SignInLimiter } from './sign-in-limiter.js';

/** Limits of failed sign-ins. */
@Module({
  providers: [SignInLimiter, LimitedCheck, { provide: MonotonicClock, useClass: ProcessClock }],
  exports: [LimitedCheck],
})
export class SignInLimitsModule {}

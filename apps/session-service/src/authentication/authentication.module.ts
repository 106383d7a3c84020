import { Module } from '@nestjs/common';
import { ApplicationKeysModule } from '../application-keys/application-keys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInLimitsModule } from '../sign-in-limits/sign-in-limits.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthenticationController } from './authentication.controller.js';
import { SignIn } from './sign-in.js';

/** The three operations of the interface. */
@Module({
  imports: [ApplicationKeysModule, UsersModule, PasswordsModule, SignInLimitsModule, SessionsModule],
  controllers: [AuthenticationController],
  providers: [SignIn],
})
export class AuthenticationModule {}

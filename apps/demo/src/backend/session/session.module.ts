import { Module } from '@nestjs/common';
import { MeController } from './me.controller.js';
import { SessionController } from './session.controller.js';

/** Signing in, signing out, and who I am. */
@Module({ controllers: [SessionController, MeController] })
export class SessionModule {}

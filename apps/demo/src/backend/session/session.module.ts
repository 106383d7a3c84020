import { Module } from '@nestjs/common';
import { MeController } from './me.controller.js';
import { SessionController } from './session.controller.js';

/** Sign-in, sign-out and the signed-in user. */
@Module({ controllers: [SessionController, MeController] })
export class SessionModule {}

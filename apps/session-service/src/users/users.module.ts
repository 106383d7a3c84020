import { Module } from '@nestjs/common';
import { UserRepository } from './user-repository.js';

/** Who may sign in. */
@Module({ providers: [UserRepository], exports: [UserRepository] })
export class UsersModule {}

import { Module } from '@nestjs/common';
import { UserRepository } from './user-repository.js';

/** Users of the service. */
@Module({ providers: [UserRepository], exports: [UserRepository] })
export class UsersModule {}

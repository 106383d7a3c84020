import { Module } from '@nestjs/common';
import { HashQueue } from './hash-queue.js';
import { Argon2PasswordHashing, PasswordHashing } from './password-hashing.js';
import { PasswordVerifier } from './password-verifier.js';

/** Password hashing and verification. */
@Module({
  providers: [
    { provide: PasswordHashing, useClass: Argon2PasswordHashing },
    {
      provide: PasswordVerifier,
      inject: [PasswordHashing],
      useFactory: (hashing: PasswordHashing) => PasswordVerifier.create(hashing, new HashQueue()),
    },
  ],
  exports: [PasswordVerifier],
})
export class PasswordsModule {}

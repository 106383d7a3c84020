import { Injectable } from '@nestjs/common';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import type { UserRecord } from 'nestjs-session-auth';
import { Strategy } from 'passport-custom';
import { tokenOf, type PresentingRequest } from './presented.js';
import { usersOfService, UsersOfService } from './users-of-service.js';
import type { VariantParts, VariantSetup } from './variant.js';

@Injectable()
class SessionStrategy extends PassportStrategy(Strategy, 'session') {
  constructor(private readonly users: UsersOfService) {
    super();
  }

  validate(request: PresentingRequest): UserRecord | Promise<UserRecord> {
    return this.users.find(tokenOf(request));
  }
}

@Injectable()
class PassportGuard extends AuthGuard('session') {}

/** \@nestjs/passport with a custom strategy; with a cache, a Map under the token itself. */
export function variant(setup: VariantSetup): VariantParts {
  const { imports, providers } = usersOfService(setup);
  return {
    imports: [...imports, PassportModule],
    providers: [...providers, SessionStrategy],
    guard: PassportGuard,
  };
}

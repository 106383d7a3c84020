import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { requestOf, tokenOf } from './presented.js';
import type { VariantParts, VariantSetup } from './variant.js';
import { usersOfService, UsersOfService } from './users-of-service.js';

/** A simple guard: no single flight, no limits. */
@Injectable()
export class HandWrittenGuard implements CanActivate {
  constructor(private readonly users: UsersOfService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const token = tokenOf(request);
    try {
      request.user = await this.users.find(token);
    } catch {
      throw new UnauthorizedException();
    }
    return true;
  }
}

/** Written by hand; with a cache, a Map under the token itself. */
export function variant(setup: VariantSetup): VariantParts {
  return { ...usersOfService(setup), guard: HandWrittenGuard };
}

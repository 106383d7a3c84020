import {
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import CircuitBreaker from 'opossum';
import type { UserRecord } from 'nestjs-session-auth';
import { requestOf, tokenOf } from './presented.js';
import type { VariantParts, VariantSetup } from './variant.js';
import { usersOfService, UsersOfService } from './users-of-service.js';

/**
 * As much as ours: time for a call, calls at once, and failures at which the breaker opens. A refusal is no
 * failure.
 */
const OPTIONS: CircuitBreaker.Options = {
  timeout: 3_000,
  capacity: 128,
  errorThresholdPercentage: 50,
  volumeThreshold: 20,
  resetTimeout: 1_000,
  errorFilter: isRefusal,
};

function isRefusal(error: unknown): boolean {
  return (error as { readonly response?: { readonly status?: number } }).response?.status === 401;
}

/** The guard written by hand, with the breaker of opossum around its call. */
@Injectable()
export class OpossumGuard implements CanActivate {
  readonly #breaker: CircuitBreaker<[token: string], UserRecord>;

  constructor(users: UsersOfService) {
    this.#breaker = new CircuitBreaker((token: string) => Promise.resolve(users.find(token)), OPTIONS);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    try {
      request.user = await this.#breaker.fire(tokenOf(request));
    } catch (error) {
      throw isRefusal(error) ? new UnauthorizedException() : new ServiceUnavailableException();
    }
    return true;
  }
}

/** Written by hand, with opossum. */
export function variant(setup: VariantSetup): VariantParts {
  return { ...usersOfService(setup), guard: OpossumGuard };
}

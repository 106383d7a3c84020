import { Injectable, UnauthorizedException, type CanActivate } from '@nestjs/common';
import type { VariantParts } from './variant.js';

const REFUSAL = new UnauthorizedException({
  statusCode: 401,
  message: 'The session is not valid',
  error: 'Unauthorized',
  code: 'SESSION_REJECTED',
});

@Injectable()
class LeastRefusal implements CanActivate {
  canActivate(): Promise<boolean> {
    return Promise.reject(REFUSAL);
  }
}

/**
 * The limit: refuse everyone with an exception that was made once. Only Nest's own handling of an exception
 * remains.
 */
export function variant(): VariantParts {
  return { guard: LeastRefusal };
}

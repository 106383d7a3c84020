import { Injectable, UnauthorizedException, type CanActivate } from '@nestjs/common';
import type { VariantParts } from './variant.js';

@Injectable()
class ThrowingRefusal implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

/**
 * A bare guard that refuses everyone as guards are written by hand: with a new exception, which has a stack
 * trace. It reads no token.
 */
export function variant(): VariantParts {
  return { guard: ThrowingRefusal };
}

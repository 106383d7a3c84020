import { Injectable, type CanActivate } from '@nestjs/common';
import type { VariantParts } from './variant.js';

@Injectable()
class EmptyGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** A guard that does nothing: what Nest itself takes for having one. */
export function variant(): VariantParts {
  return { guard: EmptyGuard };
}

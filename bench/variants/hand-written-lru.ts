import {
  Inject,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { UserRecord } from 'nestjs-session-auth';
import { requestOf, tokenOf } from './presented.js';
import { usersOfService, UsersOfService } from './users-of-service.js';
import type { VariantParts, VariantSetup } from './variant.js';

const REFUSED = Symbol('refused');

@Injectable()
class HandWrittenLruGuard implements CanActivate {
  constructor(
    private readonly users: UsersOfService,
    @Inject(LRUCache) private readonly cache: LRUCache<string, UserRecord | typeof REFUSED>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const token = tokenOf(request);
    const known = this.cache.get(token) ?? (await this.ask(token));
    this.cache.set(token, known);
    if (known === REFUSED) throw new UnauthorizedException();
    request.user = known;
    return true;
  }

  private async ask(token: string): Promise<UserRecord | typeof REFUSED> {
    try {
      return await this.users.find(token);
    } catch {
      return REFUSED;
    }
  }
}

/** Written by hand against floods: one bounded cache, for users and refusals together. */
export function variant({ cache, ...setup }: VariantSetup): VariantParts {
  const { imports, providers } = usersOfService(setup);
  const lru = {
    provide: LRUCache,
    useValue: new LRUCache({ max: cache?.maxEntries ?? 10_000, ttl: cache?.ttlMs ?? 60_000 }),
  };
  return { imports, providers: [...providers, lru], guard: HandWrittenLruGuard };
}

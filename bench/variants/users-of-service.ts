import { HttpModule, HttpService } from '@nestjs/axios';
import { UnauthorizedException, type ModuleMetadata } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { UserRecord } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { callHeaders } from './presented.js';
import { rawKey, UserCache, type KeyOf } from './user-cache.js';
import type { VariantSetup } from './variant.js';

/**
 * The users of the session service, read as guides and answers on the web show it: HttpService,
 * firstValueFrom, plainToInstance, validate.
 */
export class UsersOfService {
  constructor(
    private readonly http: HttpService,
    private readonly url: string,
    private readonly cache: UserCache | undefined,
  ) {}

  find(token: string): UserRecord | Promise<UserRecord> {
    return this.cache ? this.cache.find(token, (asked) => this.fetch(asked)) : this.fetch(token);
  }

  private async fetch(token: string): Promise<UserRecord> {
    const { data } = await firstValueFrom(this.http.get<object>(this.url, { headers: callHeaders(token) }));
    const user = plainToInstance(UserRecord, data);
    const errors = await validate(user);
    if (errors.length > 0) throw new UnauthorizedException();
    return user;
  }
}

/** The imports and providers of {@link UsersOfService}. */
export function usersOfService(
  { serviceUrl, cache }: VariantSetup,
  keyOf: KeyOf = rawKey,
): Required<Pick<ModuleMetadata, 'imports' | 'providers'>> {
  const url = `${serviceUrl}/authentication/user_details`;
  const users = {
    provide: UsersOfService,
    useFactory: (http: HttpService) =>
      new UsersOfService(http, url, cache && new UserCache(cache.ttlMs, keyOf)),
    inject: [HttpService],
  };
  return { imports: [HttpModule], providers: [users] };
}

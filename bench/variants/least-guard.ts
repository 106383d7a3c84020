import { hash } from 'node:crypto';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { tokens, userJson } from '../users.js';
import { requestOf, tokenOf } from './presented.js';
import type { VariantParts } from './variant.js';

type SetHeader = (name: string, value: string) => unknown;
type Reply = { readonly setHeader: SetHeader } | { readonly header: SetHeader; readonly setHeader?: never };

const digest = (token: string): string => hash('sha256', token, 'binary');

function setHeader(reply: Reply, name: string, value: string): void {
  if (reply.setHeader) reply.setHeader(name, value);
  else reply.header(name, value);
}

@Injectable()
class LeastGuard implements CanActivate {
  constructor(@Inject(Map) private readonly users: ReadonlyMap<string, object>) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const reply = context.switchToHttp().getResponse<Reply>();
    setHeader(reply, 'Cache-Control', 'no-store');
    setHeader(reply, 'Vary', 'X-AUTH-TOKEN');
    request.user = this.users.get(digest(tokenOf(request)));
    return request.user !== undefined;
  }
}

/**
 * The limit: digest the token, look it up among users who are always there, attach the user, keep shared
 * caches away. Nothing else.
 */
export function variant(): VariantParts {
  const users = new Map(
    tokens('user', 200).map((token, number) => [
      digest(token),
      JSON.parse(userJson(number, token)) as object,
    ]),
  );
  return { providers: [{ provide: Map, useValue: users }], guard: LeastGuard };
}

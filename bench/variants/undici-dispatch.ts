import {
  Inject,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import { callHeaders, requestOf, tokenOf } from './presented.js';
import type { VariantParts, VariantSetup } from './variant.js';

@Injectable()
class UndiciDispatchGuard implements CanActivate {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const headers = callHeaders(tokenOf(request));
    request.user = await new Promise((resolve, reject) => {
      this.pool.dispatch(
        { method: 'GET', path: '/authentication/user_details', headers },
        bareHandler(resolve, reject),
      );
    });
    return true;
  }
}

function bareHandler(
  resolve: (user: unknown) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let status = 0;
  let body = '';
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, statusCode) => void (status = statusCode),
    onResponseData: (_controller, chunk) => void (body += chunk.toString()),
    onResponseEnd: () => (status === 200 ? resolve(JSON.parse(body)) : reject(new UnauthorizedException())),
    onResponseError: (_controller, error) => reject(error),
  };
}

/**
 * undici's `dispatch` in a bare guard, the least that a call can cost: nothing is checked, nothing is
 * limited.
 */
export function variant({ serviceUrl }: VariantSetup): VariantParts {
  return {
    providers: [{ provide: Pool, useFactory: () => new Pool(serviceUrl, { connections: 128 }) }],
    guard: UndiciDispatchGuard,
  };
}

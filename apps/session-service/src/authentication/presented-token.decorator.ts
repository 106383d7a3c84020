import { type IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, UnauthorizedException } from '@nestjs/common';
import { findSingleHeader } from '../http/single-header.js';

/** Injects the token in `X-AUTH-TOKEN`. Throws 401 without exactly one. */
export const PresentedToken = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const token = findSingleHeader(context.switchToHttp().getRequest<IncomingMessage>(), 'x-auth-token');
  if (token === undefined) throw new UnauthorizedException();
  return token;
});

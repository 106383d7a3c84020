import { type IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, UnauthorizedException } from '@nestjs/common';
import { findSingleHeader } from '../http/single-header.js';

/** The token in `X-AUTH-TOKEN`. Without exactly one, the answer is 401. */
export const PresentedToken = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const token = findSingleHeader(context.switchToHttp().getRequest<IncomingMessage>(), 'x-auth-token');
  if (token === undefined) throw new UnauthorizedException();
  return token;
});

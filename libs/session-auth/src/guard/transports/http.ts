import { exceptionOf } from '../http-denial.js';
import { setHeaders } from '../http-reply.js';
import { httpArguments } from '../http-request.js';
import type { Transport } from './transport.js';

/** Controllers, on Express and on Fastify: the token in the request's headers, the user in `request.user`. */
export const HTTP: Transport = {
  open(context) {
    const [request, reply] = httpArguments(context);
    return { transport: HTTP, context, request, reply };
  },

  requestOf: (context) => context.switchToHttp().getRequest(),

  parameters: (context) => context.switchToHttp().getRequest<{ readonly params?: unknown }>().params,

  deny({ reply }, denial) {
    setHeaders(reply, denial.headers);
    return Promise.reject(exceptionOf(denial));
  },
};

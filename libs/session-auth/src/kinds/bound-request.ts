import type { ArgumentsHost } from '@nestjs/common';
import type { CallRequest } from '../guard/transport.js';

/** Has no visible properties, because interceptors of an application may print arguments. */
class CallBinding {
  readonly #request: CallRequest;

  constructor(request: CallRequest) {
    this.#request = request;
  }

  static requestOf(binding: CallBinding): CallRequest {
    return binding.#request;
  }
}

/**
 * Binds a request to the call of a handler: as an argument at an index, or at the end, whichever is later.
 * Arguments are all that the guards, the interceptors and the parameter decorators of one call share, and
 * that no other call has: Nest gives one message to all handlers of its event, and a transporter may give one
 * object to all its messages.
 * @param tail number of arguments that stay behind the request
 */
export function bindRequest(
  host: ArgumentsHost,
  index: number,
  tail: number,
  request: CallRequest,
): CallRequest {
  const args = host.getArgs<unknown[]>();
  const behind = args.splice(Math.max(0, args.length - tail));
  while (args.length < index) args.push(undefined);
  args.push(new CallBinding(request), ...behind);
  return request;
}

/** Returns the request that is bound to a call; `undefined` if no guard has opened the call. */
export function boundRequest(host: ArgumentsHost): CallRequest | undefined {
  const binding = host.getArgs<unknown[]>().find((argument) => argument instanceof CallBinding);
  return binding && CallBinding.requestOf(binding);
}

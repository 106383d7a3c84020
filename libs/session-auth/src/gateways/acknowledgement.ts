import type { ArgumentsHost } from '@nestjs/common';
import type { DenialPayload } from '../guard/denial.js';
import type { SocketClient } from '../guard/socket-client.js';

/** Answers the acknowledgement of a message. socket.io ignores all answers but the first. */
type Acknowledge = (payload: DenialPayload) => void;

/** Nest passes client, payload and acknowledgement to a handler. */
const INDEX = 2;

/**
 * Returns the acknowledgement that the client of a message waits for; `undefined` if it waits for none. Only
 * socket.io has acknowledgements. Nest itself answers them with the result of a handler only, and the client
 * of a denied message would wait forever.
 */
export function acknowledgementOf(host: ArgumentsHost): Acknowledge | undefined {
  const [client, acknowledge] = [host.getArgByIndex<SocketClient>(0), host.getArgByIndex<unknown>(INDEX)];
  return client.handshake && typeof acknowledge === 'function' ? (acknowledge as Acknowledge) : undefined;
}

/**
 * Answers the acknowledgement of a message once its rejection has reached the exception filters: a filter of
 * the application that answers it itself comes first.
 */
export function acknowledgeAfter(
  rejection: Promise<never>,
  acknowledge: Acknowledge,
  payload: DenialPayload,
): Promise<never> {
  // The next tick begins when no microtask is left, and filters run in a microtask.
  rejection.catch(() => process.nextTick(acknowledge, payload));
  return rejection;
}

import type { ContextKind } from '../guard/context-kind.js';
import { completeDeniedEvents } from './denied-events.js';
import { RPC } from './message-transport.js';

/** Message handlers of microservices. */
export const KIND: ContextKind = { transport: RPC, prepareHandlers: completeDeniedEvents };

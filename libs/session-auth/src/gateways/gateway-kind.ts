import type { ContextKind } from '../guard/context-kind.js';
import { WEB_SOCKET } from './socket-transport.js';

/** Gateways, on socket.io and on ws. */
export const KIND: ContextKind = { transport: WEB_SOCKET };

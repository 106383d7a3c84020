export { sessionSockets } from './sockets.plugin.js';
export { SessionSockets } from './session-sockets.js';
export type { SessionSocketOptions, SocketCounts, SocketUpgrade } from './socket-options.js';
export type { SocketClient, SocketConnection } from '../kinds/socket-client.js';

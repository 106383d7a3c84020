export { SessionSockets } from '../module/sockets/session-sockets.js';
export type { SessionSocketOptions, SocketCounts, SocketUpgrade } from '../module/sockets/socket-options.js';
export type { SocketClient, SocketConnection } from '../guard/sockets/socket-client.js';

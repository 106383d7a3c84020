import type { buildConnector } from 'undici/index.js';
import { acceptContinue } from './interim-replies.js';
import { recordStale } from './stale-connection.js';

/** Returns a connector whose sockets accept `100 Continue`, and record whether they are stale. */
export function prepared(connect: buildConnector.connector): buildConnector.connector {
  return (options, settle) => {
    connect(options, (...outcome) => {
      const [, socket] = outcome;
      if (socket) {
        acceptContinue(socket);
        recordStale(socket);
      }
      settle(...outcome);
    });
  };
}

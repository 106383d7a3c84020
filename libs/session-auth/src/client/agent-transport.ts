import http, { type ClientRequest, type RequestOptions } from 'node:http';
import https from 'node:https';

/** What axios takes for `node:http` or `node:https`. */
export interface AgentTransport {
  request(options: RequestOptions, onReply: (reply: http.IncomingMessage) => void): ClientRequest;
}

/** node:http and node:https. Calls `refuse` for a switch of protocols, which ends a request there without a reply and without an error. */
export function agentTransport(refuse: () => void): AgentTransport {
  return {
    request(options, onReply) {
      const request = (options.protocol === 'https:' ? https : http).request(options, onReply);
      return request.on('upgrade', (_reply, socket) => {
        socket.destroy();
        refuse();
      });
    },
  };
}

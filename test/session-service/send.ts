import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

/** A request as it goes over the wire. A header with several values is sent several times. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** The address to send from; the system chooses when absent. */
  readonly from?: string;
}

/** An answer as it came over the wire. */
export interface WireReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Sends the request, with only the headers that HTTP/1.1 requires in addition, over a separate connection.
 */
export function send(
  baseUrl: string,
  { method, path, headers = {}, body, from }: WireRequest,
): Promise<WireReply> {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const options = {
      method,
      agent: false,
      headers: { ...headers, ...length },
      ...(from !== undefined && { localAddress: from }),
    };
    const call = start(url, options, (answer) => {
      const { statusCode = 0, headers: answered } = answer;
      text(answer).then(
        (content) => resolve({ status: statusCode, headers: answered, body: content }),
        reject,
      );
    });
    call.once('error', reject);
    call.end(body);
  });
}

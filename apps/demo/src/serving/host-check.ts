import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AllowedHosts, hostOf } from './allowed-hosts.js';

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)([^#]*)/i;

/** Admits requests for an allowed host, and replies to all others with an explanation. */
export class HostCheck {
  readonly #allowed: AllowedHosts;

  constructor(allowed: AllowedHosts) {
    this.#allowed = allowed;
  }

  /**
   * Returns whether the host is allowed. If not, sends the reply: 400 without exactly one valid host, 421 for
   * another host.
   */
  pass(request: IncomingMessage, response: ServerResponse): boolean {
    const { host: headers = [] } = request.headersDistinct;
    const target = ABSOLUTE_TARGET.exec(request.url ?? '');
    // A host in the target takes precedence over the header; both must be allowed.
    const hosts = [...headers, ...(target ? [target[1] ?? ''] : [])].map(hostOf);
    const known = hosts.filter((host) => host !== undefined);
    if (headers.length !== 1 || known.length !== hosts.length) return refuse(response, 400, MALFORMED);
    const foreign = known.find((host) => !this.#allowed.include(host));
    if (foreign !== undefined) return refuse(response, 421, explain(foreign));
    if (target) request.url = originForm(target[2] ?? '');
    return true;
  }
}

const MALFORMED =
  'A request to the demo needs exactly one "Host" header, with a host name or an IP address.\n';

function explain(host: string): string {
  return (
    `The demo does not answer to the name "${host}".\n` +
    `Use localhost or an IP address instead. If this name belongs to the demo, such as that of a forwarded port, restart the demo with ` +
    `DEMO_ALLOWED_HOSTS=${host}. Separate several names with commas.\n`
  );
}

function originForm(pathAndQuery: string): string {
  return pathAndQuery.startsWith('/') ? pathAndQuery : `/${pathAndQuery}`;
}

function refuse(response: ServerResponse, status: number, text: string): false {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
  response.writeHead(status, { ...headers, Connection: 'close' }).end(text);
  return false;
}

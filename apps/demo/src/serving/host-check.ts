import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AllowedHosts, hostOf } from './allowed-hosts.js';

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)([^#]*)/i;

/** Lets requests in that name the demo as their host, and says what to do to others. */
export class HostCheck {
  readonly #allowed: AllowedHosts;

  constructor(allowed: AllowedHosts) {
    this.#allowed = allowed;
  }

  /** Whether the request may go on. If not, it is answered: 400 when it names no host or several, 421 when it names another. */
  pass(request: IncomingMessage, response: ServerResponse): boolean {
    const { host: headers = [] } = request.headersDistinct;
    const target = ABSOLUTE_TARGET.exec(request.url ?? '');
    // A host in the target stands above the header; neither may be another's.
    const hosts = [...headers, ...(target ? [target[1] ?? ''] : [])].map(hostOf);
    const known = hosts.filter((host) => host !== undefined);
    if (headers.length !== 1 || known.length !== hosts.length) return refuse(response, 400, MALFORMED);
    const foreign = known.find((host) => !this.#allowed.include(host));
    if (foreign !== undefined) return refuse(response, 421, explain(foreign));
    if (target) request.url = originForm(target[2] ?? '');
    return true;
  }
}

const MALFORMED = 'A request to the demo needs exactly one header "Host", with a host name or an IP address.\n';

function explain(host: string): string {
  return (
    `The demo does not answer to the name "${host}".\n` +
    `Open it as localhost or by an IP address, or start it again with DEMO_ALLOWED_HOSTS=${host} when this name is its own, ` +
    'as that of a forwarded port is. Separate several names with commas.\n'
  );
}

function originForm(pathAndQuery: string): string {
  return pathAndQuery.startsWith('/') ? pathAndQuery : `/${pathAndQuery}`;
}

function refuse(response: ServerResponse, status: number, text: string): false {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
  response.writeHead(status, { ...headers, Connection: 'close' }).end(text);
  return false;
}

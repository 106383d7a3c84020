import { once } from 'node:events';
import { connect } from 'node:net';

/** A reply as it came over the wire. */
export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A request that `fetch` cannot send. */
export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  /** Header lines as they stand on the wire, one byte a character. */
  readonly lines?: readonly string[];
  readonly body?: string;
}

/** Sends header lines exactly as they are written: repeated, in any case, with any byte. */
export async function sendRaw(
  url: string,
  { method = 'GET', path = '/me', lines = [], body }: RawRequest,
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const described = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body ?? '')}`];
  const own = ['Host: localhost', 'Connection: close', ...(body === undefined ? [] : described)];
  const head = [`${method} ${path} HTTP/1.1`, ...own, ...lines, '', ''].join('\r\n');
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')]));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return parse(Buffer.concat(chunks).toString('latin1'));
}

function parse(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers();
  for (const line of lines)
    headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
  return { status: Number(statusLine.split(' ')[1]), headers, body: text.slice(end + 4) };
}

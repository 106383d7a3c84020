import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/** Messages of the protocol that clients send. */
const USUAL_HEADERS = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
  'Accept: application/json, text/plain, */*',
  'Accept-Language: en-US,en;q=0.9',
  'Connection: keep-alive',
].join('\r\n');

/**
 * One keep-alive connection of the load: a request, its reply, the next. As bare as can be, so that the
 * application is what the measurement waits for and not its load.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #resolve: (status: number) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#reject(error));
    socket.on('close', () => this.#reject(new Error('The application closed the connection')));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket, host);
  }

  /** Builds a request once, to be sent often. */
  request(path: string, header: string, value: string): Buffer {
    return Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${USUAL_HEADERS}\r\n${header}: ${value}${HEAD_END}`,
    );
  }

  /** Sends a request and gives the status of the whole reply. */
  send(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#reject = () => undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = received.indexOf(HEAD_END);
    const size =
      headEnd === -1
        ? Infinity
        : headEnd + HEAD_END.length + bodyLength(received.toString('latin1', 0, headEnd));
    this.#received = received.length < size ? received : Buffer.alloc(0);
    if (received.length === size) this.#resolve(Number(received.toString('latin1', 9, 12)));
    else if (received.length > size) this.#reject(new Error('The reply is longer than it said'));
  }
}

function bodyLength(head: string): number {
  const [, length] = /^content-length: *(\d+)/im.exec(head) ?? [];
  if (length === undefined) throw new Error(`A reply without a length:\n${head}`);
  return Number(length);
}

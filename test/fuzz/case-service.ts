import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { PRESENTED_TOKEN, type WireCase } from './wire-case.js';

/** The bytes of the answer for one token. */
interface Script {
  readonly pieces: readonly Buffer[];
  readonly ending: WireCase['ending'];
}

/** A session service that answers each token with its case. */
export class CaseService {
  readonly #scripts = new Map<string, Script>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /**
   * Sets the answer to a token. It is cut only before `end`: bytes that come in a write of their own after
   * the answer could reach the client after its next request, and nothing in HTTP/1.1 would distinguish them
   * from the answer to that.
   */
  expect(token: string, { bytes, ending, cuts }: WireCase, end: number | undefined): void {
    const answer = bytes.replaceAll(PRESENTED_TOKEN, token);
    const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort(
      (one, other) => one - other,
    );
    const sure = places.filter((place) => place === bytes.length || (end !== undefined && place < end));
    const pieces = sure.map((place, index) =>
      Buffer.from(answer.slice(sure[index - 1] ?? 0, place), 'latin1'),
    );
    this.#scripts.set(token, { pieces, ending });
  }

  remove(token: string): void {
    this.#scripts.delete(token);
  }

  /** Answers a request when its head has arrived: a check has no body. */
  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let received = '';
    socket.on('data', (chunk) => {
      const heads = (received + chunk.toString('latin1')).split('\r\n\r\n');
      received = heads.pop() ?? '';
      for (const head of heads) this.#answer(socket, head);
    });
  }

  #answer(socket: Socket, head: string): void {
    const script = this.#scripts.get(/^x-auth-token: (.*)$/im.exec(head)?.[1] ?? '');
    if (!script) socket.destroy();
    else if (script.pieces.length === 1 && script.ending === 'keep') socket.write(script.pieces[0] ?? '');
    else void send(socket, script);
  }
}

async function send(socket: Socket, { pieces, ending }: Script): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise<void>((written) => void socket.write(piece, () => setImmediate(written)));
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}

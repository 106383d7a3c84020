import type { Socket } from 'node:net';
import { startRawListener, type RawListener } from './raw-listener.js';
import { PRESENTED_TOKEN, type WireCase } from './wire-case.js';

/** The bytes of the answer for one token. */
interface Script {
  readonly pieces: readonly Buffer[];
  readonly ending: WireCase['ending'];
}

/** A session service that answers each token with its case. */
export class CaseService {
  readonly #scripts = new Map<string, Script>();
  #raw: RawListener | undefined;

  async start(): Promise<string> {
    this.#raw = await startRawListener((socket, head) => this.#answer(socket, head));
    return this.#raw.url;
  }

  connections(): number {
    return this.#raw?.connections() ?? 0;
  }

  async close(): Promise<void> {
    await this.#raw?.close();
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

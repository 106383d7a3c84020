import { type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';

/** Replies under way, by their connections: a reply that waits behind another one is not told when its connection closes. */
export class OpenReplies {
  readonly #open = new Map<Socket, Connection>();
  #drained: (() => void) | undefined;

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const { replies } = this.#open.get(socket) ?? this.#watch(socket);
    replies.add(response);
    response.once('close', () => {
      replies.delete(response);
      if (replies.size === 0) this.#forget(socket);
    });
  }

  /** Resolves when there are none. Cuts off those that there still are after so long. */
  async drain(patienceMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const patience = setTimeout(() => this.#cutOff(), patienceMs);
    await new Promise<void>((resolve) => (this.#drained = resolve));
    clearTimeout(patience);
  }

  #watch(socket: Socket): Connection {
    const connection = { replies: new Set<ServerResponse>(), closed: () => this.#forget(socket) };
    this.#open.set(socket, connection);
    socket.once('close', connection.closed);
    return connection;
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection) socket.off('close', connection.closed);
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#drained?.();
  }

  #cutOff(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

interface Connection {
  readonly replies: Set<ServerResponse>;
  readonly closed: () => void;
}

import { type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';

/** Tracks open replies by connection: a pipelined reply emits no event when its connection closes. */
export class OpenReplies {
  readonly #open = new Map<Socket, Connection>();
  #drained: (() => void) | undefined;

  /** Tracks a reply until it closes. */
  add(response: ServerResponse): void {
    const { socket } = response.req;
    const { replies } = this.#open.get(socket) ?? this.#watch(socket);
    replies.add(response);
    response.once('close', () => {
      replies.delete(response);
      if (replies.size === 0) this.#remove(socket);
    });
  }

  /** Resolves when no reply is open. Closes the remaining connections after the time-out. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const timeout = setTimeout(() => this.#destroyAll(), timeoutMs);
    await new Promise<void>((resolve) => (this.#drained = resolve));
    clearTimeout(timeout);
  }

  #watch(socket: Socket): Connection {
    const connection = { replies: new Set<ServerResponse>(), closed: () => this.#remove(socket) };
    this.#open.set(socket, connection);
    socket.once('close', connection.closed);
    return connection;
  }

  #remove(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection) socket.off('close', connection.closed);
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#drained?.();
  }

  #destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

interface Connection {
  readonly replies: Set<ServerResponse>;
  readonly closed: () => void;
}

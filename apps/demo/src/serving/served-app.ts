import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';

/** An application that answers what another server hands it. It never listens itself. */
export class ServedApp {
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  #drained: (() => void) | undefined;

  constructor(readonly app: INestApplication) {
    this.#server = app.getHttpServer() as Server;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => this.#closed(response));
    this.#server.emit('request', request, response);
  }

  /** Lets replies under way finish, for so long at most, then closes the application. It must be handed nothing more. */
  async close(patienceMs: number): Promise<void> {
    if (this.#open.size > 0) {
      const patience = setTimeout(() => this.#cutOff(), patienceMs);
      await new Promise<void>((resolve) => (this.#drained = resolve));
      clearTimeout(patience);
    }
    await this.app.close();
  }

  #closed(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size === 0) this.#drained?.();
  }

  #cutOff(): void {
    for (const response of this.#open) response.destroy();
  }
}

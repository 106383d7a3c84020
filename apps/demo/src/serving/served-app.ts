import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import { OpenReplies } from './open-replies.js';

/** An application that answers what another server hands it. It never listens itself. */
export class ServedApp {
  readonly #server: Server;
  readonly #open = new OpenReplies();

  constructor(readonly app: INestApplication) {
    this.#server = app.getHttpServer() as Server;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    this.#server.emit('request', request, response);
  }

  /** Lets replies under way finish, for so long at most, then closes the application. It must be handed nothing more. */
  async close(patienceMs: number): Promise<void> {
    await this.#open.drain(patienceMs);
    await this.app.close();
  }
}

import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import { OpenReplies } from './open-replies.js';

/** Handles requests that another server passes on to an application that does not listen itself. */
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

  /**
   * Waits for open replies until the time-out, then closes the application. No request may be passed on after
   * this.
   */
  async close(timeoutMs: number): Promise<void> {
    await this.#open.drain(timeoutMs);
    await this.app.close();
  }
}

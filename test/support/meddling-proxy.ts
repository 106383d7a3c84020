import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Changes the bytes that the far end sends. */
type Meddle = (bytes: Buffer) => Buffer | Promise<Buffer>;

const asTheyAre: Meddle = (bytes) => bytes;

/** A TCP proxy on a free port that cuts, silences or rewrites the bytes of the port behind it. */
export class MeddlingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #meddle = asTheyAre;
  #open = true;
  /** Connections so far. */
  made = 0;

  private constructor(server: Server, port: number) {
    this.#server = server;
    server.on('connection', (near) => this.#join(near, port));
  }

  /** Passes everything on to a port of this machine, at first. */
  static async to(port: number): Promise<MeddlingProxy> {
    const server = createServer();
    const proxy = new MeddlingProxy(server, port);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends every connection, and every new one at once. */
  cut(): void {
    this.#open = false;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Stops forwarding. Connections of this time stay silent forever. */
  fallSilent(): void {
    this.#meddle = () => new Promise(() => undefined);
  }

  /** Swallows what arrives on the connections of this time, without ending them: a NAT has dropped them. */
  drop(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('data').unpipe().resume();
  }

  rewrite(meddle: (bytes: Buffer) => Buffer): void {
    this.#meddle = meddle;
  }

  /** Accepts connections again, and forwards bytes from now on. */
  restore(): void {
    this.#open = true;
    this.#meddle = asTheyAre;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, port: number): void {
    this.made += 1;
    this.#keep(near);
    if (!this.#open) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    this.#keep(far);
    near.pipe(far);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    let before = Promise.resolve();
    far.on('data', (bytes: Buffer) => {
      const after = this.#meddle(bytes);
      before = before.then(async () => void near.write(await after));
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket));
  }
}

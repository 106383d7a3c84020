import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on a free port that can fall silent, as a network does that loses every packet. */
export class SilentProxy {
  private readonly sockets = new Set<Socket>();
  private silent = false;

  private constructor(private readonly server: Server) {}

  /** Passes everything on to the port of this machine. */
  static async to(port: number): Promise<SilentProxy> {
    const server = createServer();
    const proxy = new SilentProxy(server);
    server.on('connection', (near) => proxy.join(near, port));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Passes nothing on any more, on any connection; new ones are accepted and left alone. */
  fallSilent(): void {
    this.silent = true;
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Forwards new connections again. Those from before stay silent forever. */
  speak(): void {
    this.silent = false;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket, port: number): void {
    this.keep(near);
    if (this.silent) return;
    const far = connect(port, '127.0.0.1');
    this.keep(far);
    near.pipe(far).pipe(near);
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => this.sockets.delete(socket));
  }
}

import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { StartError } from '../start-error.js';

/** The loopback address of each wildcard address. */
const REACHED: Readonly<Record<string, string>> = { '::': '::1', '0.0.0.0': '127.0.0.1' };

/** Where a server listens. */
export interface Listening {
  /** As reached from this machine. */
  readonly url: string;
  /** Address and port that it is bound to. */
  readonly address: string;
}

/**
 * Listens. Resolves to where the server listens.
 *
 * @throws StartError with the address and the cause if it cannot listen there
 */
export async function listen(server: Server, port: number, host: string): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new StartError(explain(error, port, host))),
    );
    server.listen({ port, host }, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${authority(REACHED[address] ?? address, family, bound)}`,
    address: authority(address, family, bound),
  };
}

function explain({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is already in use; stop the program that listens there, or set PORT to another port`;
  return `cannot listen on port ${port} of ${host} (${code ?? message}); set PORT or HOST`;
}

function authority(address: string, family: string, port: number): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

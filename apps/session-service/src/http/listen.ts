import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { StartError } from '../start-error.js';

/**
 * Listens. Resolves to the URL of the server, as reached from this machine.
 *
 * @throws StartError with the address and the cause if it cannot listen there
 */
export async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new StartError(explain(error, port, host))));
    server.listen({ port, host }, resolve);
  });
  return urlOf(server.address() as AddressInfo);
}

function explain({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is already in use; stop the program that listens there, or set PORT to another port`;
  return `cannot listen on port ${port} of ${host} (${code ?? message}); set PORT or HOST`;
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '::') return `http://[::1]:${port}`;
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

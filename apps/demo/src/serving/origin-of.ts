/** An address as Node.js describes it, of a server or of a connection. */
interface Address {
  readonly address: string;
  readonly family: string | undefined;
  readonly port: number;
}

/** Loopback address of a server that listens on all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the origin of an address, as reached from this machine. */
export function originOf({ address, family, port }: Address): string {
  const host = LOOPBACK[address] ?? address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

/** A place where a server listens, or that a connection came to, as Node describes it. */
interface Place {
  readonly address: string;
  readonly family: string | undefined;
  readonly port: number;
}

/** For a server on every address of the machine: one that leads there. */
const LEADING_THERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The origin under which a place is reached from this machine. */
export function originOf({ address, family, port }: Place): string {
  const host = LEADING_THERE[address] ?? address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** The time, the database and the address of the client, and the arguments. */
const COMMAND = /^\+[\d.]+ \[\d+ (\S+)\] "(.*)"$/;

/**
 * Reports every command that a Redis server executes from now on. Over a connection of its own: ioredis takes
 * a command that comes together with the reply to MONITOR for an error.
 */
export function monitor(
  port: number,
  onCommand: (args: readonly string[], client: string) => void,
): Promise<{ close(): void }> {
  const socket = connect(port, '127.0.0.1');
  const close = (): void => void socket.destroy();
  socket.write('MONITOR\r\n');
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    createInterface({ input: socket }).on('line', (line) => {
      if (line === '+OK') resolve({ close });
      const [, client = '', args] = COMMAND.exec(line) ?? [];
      if (args !== undefined)
        onCommand(
          args.split('" "').map((argument) => argument.replaceAll('\\"', '"')),
          client,
        );
    });
  });
}

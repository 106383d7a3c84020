import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { endProcess, suiteWith } from './server-process.js';

export const describeWithKafka = suiteWith(spawnSync('kcat', ['-V']).status === 0);

/** One broker, which ends with its standard input. The address after `-b` is not used. */
const ARGUMENTS = ['-X', 'test.mock.num.brokers=1', '-d', 'mock', '-b', 'none', '-P', '-t', 'none'];

/**
 * A Kafka broker on a free loopback port, which keeps nothing on the disk: the one that librdkafka has for
 * its own tests, with topics, partitions, consumer groups and offsets. It creates topics of four partitions
 * when they are first named.
 */
export class KafkaBroker {
  private constructor(
    private readonly process: ChildProcess,
    readonly address: string,
  ) {}

  static async start(): Promise<KafkaBroker> {
    const broker = spawn('kcat', ARGUMENTS, { stdio: ['pipe', 'ignore', 'pipe'] });
    return new KafkaBroker(broker, await addressOf(broker));
  }

  close(): Promise<void> {
    return endProcess(this.process, 'SIGKILL');
  }
}

/** Reads on, so that the broker can speak on. */
function addressOf(broker: ChildProcess): Promise<string> {
  let log = '';
  return new Promise((resolve, reject) => {
    broker.stderr?.on('data', (said: Buffer) => {
      log = (log + said.toString()).slice(-100_000);
      const address = /bootstrap\.servers=(\S+)\s/.exec(log)?.[1];
      if (address) resolve(address);
    });
    broker.once('error', reject);
    broker.once('close', () => reject(new Error(`kcat ended:\n${log}`)));
  });
}

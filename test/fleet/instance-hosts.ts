import { join } from 'node:path';
import { compileProgram, type CompiledProgram } from '../support/program.js';
import { InstanceHost } from './instance-host.js';
import { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';

/**
 * Instances that start one after the other run in different processes, so that nothing but the network and
 * Redis connects them.
 */
const PROCESSES = 2;

/**
 * The processes of a suite. They run the library as its sources are now, and all instances that need no
 * process of their own.
 */
export class InstanceHosts {
  #program: Promise<CompiledProgram> | undefined;
  readonly #hosts = new Map<string, Promise<InstanceHost>>();
  #started = 0;

  async start({ ownProcess = false, clockOffsetMs = 0, ...settings }: InstanceSettings): Promise<Instance> {
    const turn = ownProcess
      ? `own ${(this.#started += 1)}`
      : clockOffsetMs === 0
        ? (this.#started += 1) % PROCESSES
        : 0;
    const name = `${clockOffsetMs} ${turn}`;
    const host = this.#hosts.get(name) ?? this.#startHost({ clockOffsetMs, forOne: ownProcess });
    if (!ownProcess) this.#hosts.set(name, host);
    return Instance.start(await host, settings);
  }

  async close(): Promise<void> {
    const hosts = await Promise.all(this.#hosts.values());
    await Promise.all(hosts.map((host) => host.close()));
    await (await this.#program)?.remove();
  }

  async #startHost(settings: ConstructorParameters<typeof InstanceHost>[1]): Promise<InstanceHost> {
    this.#program ??= compileProgram(join(import.meta.dirname, 'instance.process.ts'));
    return new InstanceHost(await this.#program, settings);
  }
}

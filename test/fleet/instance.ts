import type { Commands } from './instance.process.js';
import type { InstanceHost } from './instance-host.js';
import type { InstanceSettings } from './instance-settings.js';

export class Instance {
  private constructor(
    private readonly host: InstanceHost,
    private readonly number: number,
    private readonly url: string,
  ) {}

  static async start(host: InstanceHost, settings: InstanceSettings): Promise<Instance> {
    const { number, url } = await host.start(settings);
    return new Instance(host, number, url);
  }

  /** Resolves with the exit code when the process has ended. */
  get exit(): Promise<number | null> {
    return this.host.exit;
  }

  /** `GET /me`, which is guarded. */
  get(token: string, authIv?: string): Promise<Response> {
    return fetch(`${this.url}/me`, {
      headers: { 'x-auth-token': token, ...(authIv !== undefined && { 'x-auth-iv': authIv }) },
    });
  }

  async status(token: string, authIv?: string): Promise<number> {
    const response = await this.get(token, authIv);
    await response.arrayBuffer();
    return response.status;
  }

  /** Runs an operation on the instance. */
  async do<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<Awaited<ReturnType<Commands[Name]>>> {
    return (await this.host.ask({ instance: this.number, name, args })) as Awaited<
      ReturnType<Commands[Name]>
    >;
  }

  /** Kills the instance. */
  async close(): Promise<void> {
    await this.host.stop(this.number);
  }
}

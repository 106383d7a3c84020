import {
  type MarkEvent,
  type Marks,
  REPORTS_KEPT,
  type LiveReport,
} from '../../apps/demo/src/console/messages.js';

/** The live view of a demo, read as the page reads it. */
export class LiveReports {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = '';

  private constructor(
    readonly reply: Response,
    body: ReadableStream<Uint8Array>,
  ) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async of(url: string): Promise<LiveReports> {
    const reply = await fetch(`${url}/console/live`);
    if (!reply.body) throw new Error(`No stream, but ${reply.status}`);
    return new LiveReports(reply, reply.body);
  }

  /** The reports of the minute before, which come first. */
  async history(): Promise<LiveReport[]> {
    const { type, data } = await this.#event();
    if (type !== 'history') throw new Error(`The first event is ${type}`);
    return data as LiveReport[];
  }

  /** The first report to come that meets a condition. */
  async next(condition: (report: LiveReport) => boolean): Promise<LiveReport> {
    for (let seen = 0; seen < REPORTS_KEPT;) {
      const { type, data } = await this.#event();
      if (type === 'report') seen += 1;
      if (type === 'report' && condition(data as LiveReport)) return data as LiveReport;
    }
    throw new Error(`None of ${REPORTS_KEPT} reports meets the condition`);
  }

  /** The events of requests, until they meet a condition. */
  async marks(condition: (events: readonly MarkEvent[]) => boolean): Promise<MarkEvent[]> {
    const events: MarkEvent[] = [];
    while (!condition(events)) {
      const { type, data } = await this.#event();
      if (type === 'marks') events.push(...(data as Marks).events);
    }
    return events;
  }

  /** Whether the demo has ended the stream. */
  async ended(): Promise<boolean> {
    for (;;) if ((await this.#reader.read()).done) return true;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }

  async #event(): Promise<{ readonly type: string; readonly data: unknown }> {
    let end = this.#rest.indexOf('\n\n');
    while (end === -1) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error('The stream has ended');
      this.#rest = `${this.#rest}${value}`.replace(/^\n+/, '');
      end = this.#rest.indexOf('\n\n');
    }
    const fields = new Map(
      this.#rest
        .slice(0, end)
        .split('\n')
        .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
    );
    this.#rest = this.#rest.slice(end + 2).replace(/^\n+/, '');
    return { type: fields.get('event') ?? 'message', data: JSON.parse(fields.get('data') ?? 'null') };
  }
}

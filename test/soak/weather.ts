/** Whether the service is well, and since when its clients have to have noticed. */
export class Weather {
  #calmSince = Infinity;
  #lastFault = 'none';

  faultBegins(fault: string): void {
    this.#calmSince = Infinity;
    this.#lastFault = fault;
  }

  recovered(): void {
    this.#calmSince = performance.now();
  }

  /** Of the last fault and what came after it, for a report. */
  get lately(): string {
    const calmMs = Math.round(performance.now() - this.#calmSince);
    return `fault "${this.#lastFault}"${calmMs > 0 ? `, over for ${calmMs} ms` : ''}`;
  }

  /** Whether no fault can have touched a request that was sent then and is answered now. */
  wasCalmSince(sentAt: number): boolean {
    return sentAt >= this.#calmSince;
  }
}

/** The state of the service, and the time since which its clients must know it. */
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

  /** The last fault and its calm, for a report. */
  get lately(): string {
    const calmMs = Math.round(performance.now() - this.#calmSince);
    return `fault "${this.#lastFault}"${calmMs > 0 ? `, over for ${calmMs} ms` : ''}`;
  }

  /** Whether no fault can have touched a request that was sent then and is answered now. */
  wasCalmSince(sentAt: number): boolean {
    return sentAt >= this.#calmSince;
  }
}

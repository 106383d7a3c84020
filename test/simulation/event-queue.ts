/** Events, of which the earliest is first. `tie` orders those of the same time. */
export class EventQueue<Event extends { readonly atMs: number; readonly tie: number }> {
  /** A binary heap. */
  readonly events: Event[] = [];

  get first(): Event | undefined {
    return this.events[0];
  }

  push(event: Event): void {
    const { events } = this;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = events[parent];
      if (!other || !isBefore(event, other)) break;
      events[at] = other;
      at = parent;
    }
    events[at] = event;
  }

  /** Removes the first event. */
  pop(): void {
    const { events } = this;
    const last = events.pop();
    if (!last || events.length === 0) return;
    let at = 0;
    for (;;) {
      const child = this.#firstOf(2 * at + 1);
      const other = events[child];
      if (!other || !isBefore(other, last)) break;
      events[at] = other;
      at = child;
    }
    events[at] = last;
  }

  #firstOf(left: number): number {
    const [one, other] = [this.events[left], this.events[left + 1]];
    return one && other && isBefore(other, one) ? left + 1 : left;
  }
}

type Timed = Readonly<Record<'atMs' | 'tie', number>>;

function isBefore(one: Timed, other: Timed): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.tie < other.tie);
}

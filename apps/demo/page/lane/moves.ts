import { type MarkKind } from '../../src/console/messages.js';
import { type Geometry, type Point } from './geometry.js';
import { isAdmitted } from './kinds.js';
import { type Mark } from './mark.js';
import { placeOf, Swarm } from './swarm.js';
import { spread, stationOf, wayOut } from './ways.js';

/** Milliseconds of each part of the way. */
const PACE = { coming: 520, waiting: 420, asking: 720, returning: 640, leaving: 620 };
/** A crowd leaves as a stream. */
const STREAM_MS = 700;
/** How long the static picture shows a request. */
const STILL_MS = 4_000;

/** Decides where a mark goes next. */
export class Moves {
  readonly #crowds = { known: new Swarm(), strangers: new Swarm() };
  readonly #places: Readonly<Record<MarkKind, Swarm>> = {
    cached: new Swarm(),
    joined: new Swarm(),
    asked: new Swarm(),
    denied: new Swarm(),
    turnedBack: new Swarm(),
    unavailable: new Swarm(),
    open: new Swarm(),
  };

  constructor(
    private readonly at: Geometry,
    private readonly isStill: boolean,
    private readonly marks: ReadonlyMap<number, Mark>,
    private readonly count: (kind: MarkKind, weight: number) => void,
  ) {}

  /** Where marks begin. */
  start(): Point {
    const { users, isWide } = this.at;
    return { x: users.x, y: users.y + spread(isWide ? 44 : 34) };
  }

  enter(mark: Mark, now: number): void {
    const { cache } = this.at;
    if (!this.isStill)
      mark.move(
        [{ x: cache.x + spread(8), y: cache.y + spread(12) }],
        now,
        PACE.coming * (1 + Math.random() * 0.5),
      );
  }

  /** Called when a mark has arrived where it went. */
  next(mark: Mark, now: number): void {
    if (mark.stage === 'leaving') mark.stage = 'gone';
    else if (this.isStill) this.#rest(mark, now);
    else if (mark.stage === 'coming') this.#atCache(mark, now);
    else if (mark.stage === 'waiting') this.#inCrowd(mark, now);
    else if (mark.stage === 'asking') this.#atService(mark, now);
    else this.#leave(mark, now);
  }

  /** Ends a mark wherever it is. Its request counts if its outcome is known. */
  end(mark: Mark): void {
    this.#show(mark);
    mark.stage = 'gone';
  }

  leaveCrowd(mark: Mark): void {
    if (mark.place === undefined) return;
    if (this.isStill && mark.kind) this.#places[mark.kind].free(mark.place);
    else this.#crowds[mark.lane].free(mark.place);
    mark.place = undefined;
  }

  #atCache(mark: Mark, now: number): void {
    const { kind } = mark;
    const endsHere = kind === 'cached' || kind === 'open' || (kind === 'denied' && !mark.hasCall);
    if (endsHere) {
      this.#leave(mark, now);
      return;
    }
    const { cache, wait, lanes, crowd } = this.at;
    mark.stage = 'waiting';
    mark.place = this.#crowds[mark.lane].take();
    const y = lanes[mark.lane];
    const place = placeOf(mark.place, { x: wait, y }, crowd);
    mark.move([{ x: Math.min(place.x, cache.x + 58), y: (y + place.y) / 2 }, place], now, PACE.waiting);
  }

  #inCrowd(mark: Mark, now: number): void {
    const { service, breaker, lanes } = this.at;
    if (mark.hasCall) {
      this.leaveCrowd(mark);
      mark.stage = 'asking';
      const at = { x: service.x - 18 + spread(14), y: service.y + spread(24) };
      mark.move([...wayOut(this.at, mark.lane), at], now, PACE.asking);
    } else if (mark.kind === 'turnedBack') {
      this.leaveCrowd(mark);
      mark.stage = 'returning';
      mark.move([{ x: breaker - 18, y: lanes[mark.lane] + spread(6) }], now, PACE.waiting);
    } else if (mark.kind && !this.#waitsForCall(mark)) this.#leave(mark, now, Math.random() * STREAM_MS);
  }

  /** Whether the call that the mark joined is still to be seen on its way. */
  #waitsForCall({ joinedTo }: Mark): boolean {
    const caller = joinedTo === undefined ? undefined : this.marks.get(joinedTo);
    return caller !== undefined && caller.stage !== 'leaving' && caller.stage !== 'gone';
  }

  #atService(mark: Mark, now: number): void {
    if (!mark.kind) return;
    const { wait, lanes } = this.at;
    this.#show(mark);
    mark.stage = 'returning';
    mark.move(
      [...wayOut(this.at, mark.lane).reverse(), { x: wait + spread(14), y: lanes[mark.lane] + spread(8) }],
      now,
      PACE.returning,
    );
  }

  /** Admitted requests go down to the route, all others back to where they came from. */
  #leave(mark: Mark, now: number, delay = 0): void {
    const { routes, users, isWide } = this.at;
    this.#show(mark);
    this.leaveCrowd(mark);
    mark.stage = 'leaving';
    const down = { x: mark.x + spread(isWide ? 60 : 24), y: routes.y };
    const back = { x: users.x + 26, y: users.y + spread(40) };
    mark.move([mark.kind && isAdmitted(mark.kind) ? down : back], now, PACE.leaving, delay);
  }

  /** The static picture: a mark stands at the station that decided, for a while. */
  #rest(mark: Mark, now: number): void {
    const { kind } = mark;
    if (!kind) return;
    this.#show(mark);
    mark.place = this.#places[kind].take();
    const place = placeOf(mark.place, stationOf(this.at, kind, mark.lane), this.at.crowd * 0.8);
    mark.stage = 'leaving';
    mark.x = place.x;
    mark.y = place.y;
    mark.move([place], now, STILL_MS);
  }

  #show(mark: Mark): void {
    if (mark.shown || !mark.kind) return;
    mark.shown = mark.kind;
    this.count(mark.kind, mark.weight);
  }
}

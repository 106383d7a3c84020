import { delayFrom, isFault, type DevFaults } from './dev-faults.js';
import type { DevReply, DevRequest } from './dev-request.js';
import type { DevSessions } from './dev-sessions.js';

/** Path of the control endpoints. */
export const CONTROL_PATH = '/_dev';

type Body = Readonly<Record<string, unknown>>;
type Control = (body: Body) => string | undefined;

/**
 * The control endpoints, for tests of front ends: `POST /_dev/revoke`, `/_dev/delay`, `/_dev/fail` and `/_dev/reset`, and `GET /_dev`, which returns
 * the state. Each returns the state, or 400 with the remedy.
 */
export class DevControls {
  readonly #controls: Readonly<Record<string, Control>>;

  constructor(
    private readonly sessions: DevSessions,
    private readonly faults: DevFaults,
  ) {
    this.#controls = {
      '/revoke': (body) => this.#revoke(body),
      '/delay': (body) => this.#delay(body),
      '/fail': (body) => this.#fail(body),
      '/reset': () => this.#reset(),
    };
  }

  answer({ method, path, isJson, body }: DevRequest): DevReply {
    if (method === 'GET' && path === CONTROL_PATH) return this.#state();
    const control = this.#controls[path.slice(CONTROL_PATH.length)];
    if (method !== 'POST' || !control) return { status: 404 };
    // A page of another origin can send any other type without asking the browser.
    if (!isJson || body === undefined) return remedy('Send a JSON object with content-type: application/json.');
    const mistake = control(body);
    return mistake === undefined ? this.#state() : remedy(mistake);
  }

  #state(): DevReply {
    const { delayMs, fault } = this.faults;
    return { status: 200, json: { users: this.sessions.records, sessions: this.sessions.size, delay: delayMs, fail: fault ?? null } };
  }

  #revoke({ token, username }: Body): string | undefined {
    if (typeof token === 'string') this.sessions.revoke(token);
    else if (typeof username === 'string') this.sessions.revokeAll(username);
    else if (token === undefined && username === undefined) this.sessions.revokeAll();
    else return 'Send {"token": "..."}, {"username": "..."}, or {} for all sessions.';
    return undefined;
  }

  #delay(body: Body): string | undefined {
    const delayMs = delayFrom(body);
    if (delayMs === undefined) return 'Send {"ms": 0} to {"ms": 600000}.';
    this.faults.delayMs = delayMs;
    return undefined;
  }

  #fail({ as }: Body): string | undefined {
    if (as !== null && !isFault(as)) return 'Send {"as": 503} (400 to 599), {"as": "reset"}, {"as": "silence"}, or {"as": null} to end it.';
    this.faults.fault = as ?? undefined;
    return undefined;
  }

  #reset(): undefined {
    this.sessions.revokeAll();
    this.faults.delayMs = 0;
    this.faults.fault = undefined;
  }
}

function remedy(message: string): DevReply {
  return { status: 400, json: { message } };
}

const HELD = Symbol('held reply');

/**
 * Characters or bytes that are kept before the handler has to wait. At least the size of the buffers of
 * Node.js, of which a compressing middleware has one: so they make the handler wait for them, too.
 */
const MAX_HELD = 65_536;

/** The part of a response of Node.js that holds it, over HTTP/1 and HTTP/2. */
export interface HoldableResponse {
  /** That of HTTP/2, where `writeHead()` sends the head. */
  readonly stream?: { readonly destroyed: boolean; readonly headersSent: boolean; close(code: number): void };
  readonly headersSent: boolean;
  statusCode: number;
  writeHead: Writer;
  write: Writer;
  end: Writer;
  flushHeaders: Writer;
  emit(event: 'drain'): unknown;
  destroy(): unknown;
  [HELD]?: Held | undefined;
}

type Writer = (...parameters: unknown[]) => unknown;

interface Held {
  holders: number;
  size: number;
  readonly calls: HeldCall[];
  readonly end: Writer;
  readonly endHeld: Writer;
}

interface HeldCall {
  readonly writer: Writer;
  readonly parameters: unknown[];
}

/**
 * Holds a reply until each of its holders has released it, or it ends by itself: a head that is sent can't be
 * taken back. Its handler sees a reply whose head is sent.
 */
export function hold(response: HoldableResponse): void {
  const held = response[HELD];
  if (held) {
    held.holders += 1;
    return;
  }
  // Over HTTP/1, the head is sent with the first part.
  if (response.stream) Object.defineProperty(response, 'headersSent', { value: true, configurable: true });
  else if (!response.headersSent) response.writeHead(response.statusCode);
  const { end } = response;
  const endHeld: Writer = (...parameters) => {
    sendHeld(response);
    return end.apply(response, parameters);
  };
  response[HELD] = { holders: 1, size: 0, calls: [], end, endHeld };
  response.end = endHeld;
}

export function isHeld(response: HoldableResponse): boolean {
  return response[HELD] !== undefined;
}

/** Keeps a call of a function that writes a held reply. Returns whether the handler may go on writing. */
export function keep(response: HoldableResponse, writer: Writer, parameters: unknown[]): boolean {
  const held = response[HELD];
  if (!held) return false;
  held.calls.push({ writer, parameters });
  const [part] = parameters;
  if (typeof part === 'string' || ArrayBuffer.isView(part))
    held.size += typeof part === 'string' ? part.length : part.byteLength;
  return held.size < MAX_HELD;
}

export function release(response: HoldableResponse): void {
  const held = response[HELD];
  if (!held) return;
  held.holders -= 1;
  if (held.holders === 0) sendHeld(response);
}

function sendHeld(response: HoldableResponse): void {
  const held = letGo(response);
  if (!held) return;
  let takesMore: unknown;
  try {
    for (const { writer, parameters } of held.calls) takesMore = writer.apply(response, parameters);
  } catch {
    // The application has written something invalid, such as a header over HTTP/2.
    response.destroy();
  }
  if (held.size >= MAX_HELD && takesMore === true) response.emit('drain');
}

/** Returns the parameters of each call that was held. */
export function discardHeld(response: HoldableResponse): unknown[][] {
  return letGo(response)?.calls.map(({ parameters }) => parameters) ?? [];
}

function letGo(response: HoldableResponse): Held | undefined {
  const held = response[HELD];
  if (!held) return undefined;
  response[HELD] = undefined;
  if (response.stream) Reflect.deleteProperty(response, 'headersSent');
  if (response.end === held.endHeld) response.end = held.end;
  return held;
}

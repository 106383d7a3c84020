import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What can be asked of the session service (section 4). */
export type Operation = 'user_details' | 'sign_in' | 'sign_out';

/** One request as it reached the session service. */
export interface SeenRequest {
  /** What it asks for; `undefined` where the interface has no such path or method. */
  readonly operation: Operation | undefined;
  /** Method, in capitals. */
  readonly method: string;
  /** Path with query, as it stood in the request line. */
  readonly path: string;
  /** Headers under their lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The whole body, as UTF-8; empty when there was none. */
  readonly body: string;
  /** Tells one connection from another. */
  readonly remotePort: number | undefined;
}

/** What the session service does with a request. The socket is there for what HTTP would not let a response do. */
export type Script = (request: SeenRequest, response: ServerResponse, socket: Socket) => void;

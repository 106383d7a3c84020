import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type INestApplication } from '@nestjs/common';
import type { CallMessage, CheckMessage } from 'nestjs-session-auth/diagnostics';
import { type RequestHandler } from '../../serving/demo-server.js';
import { MarkFeed } from './mark-feed.js';
import { onIssued } from './on-issued.js';
import { SessionAnswers } from './session-answers.js';
import { digestOf, tokenDigestOf } from './token-digest.js';
import { TracedRequest } from './traced-request.js';

const CHECKS = 'nestjs-session-auth:check';
const DENIALS = 'nestjs-session-auth:denial';
const CALLS = tracingChannel<'nestjs-session-auth:call', CallMessage>('nestjs-session-auth:call');
const SIGN_IN = 'POST /api/session';

/** The backend, whose current instance handles requests. */
interface Backend extends RequestHandler {
  readonly app: INestApplication;
}

/**
 * Follows each request through the backend: the library's messages are published in the asynchronous context
 * of their request.
 */
export class RequestTracer implements RequestHandler {
  /** The requests as marks, for the page. */
  readonly marks = new MarkFeed();
  readonly #backend: Backend;
  readonly #current = new AsyncLocalStorage<TracedRequest>();
  readonly #answers = new WeakMap<INestApplication, SessionAnswers>();
  readonly #askedAt = new WeakMap<CallMessage, number>();
  /** The request that made the latest call for a session, by token digest, while the call is in flight. */
  readonly #calling = new Map<string, number>();
  #requests = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
    subscribe(CHECKS, this.#onCheck);
    subscribe(DENIALS, this.#onDenial);
    CALLS.subscribe(this.#onCalls);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const answers = this.#answersOf(this.#backend.app);
    const traced = new TracedRequest((this.#requests += 1), tokenDigestOf(request), answers, response);
    if (`${request.method ?? ''} ${request.url ?? ''}` === SIGN_IN)
      onIssued(response, (token) => answers.addKnown(digestOf(token)));
    else this.#mark(request, response, traced);
    this.#current.run(traced, () => this.#backend.handle(request, response));
  }

  close(): void {
    unsubscribe(CHECKS, this.#onCheck);
    unsubscribe(DENIALS, this.#onDenial);
    CALLS.unsubscribe(this.#onCalls);
    this.marks.close();
  }

  /** Only requests with a token, and those that are denied without one, are marks. */
  #mark({ socket }: IncomingMessage, response: ServerResponse, traced: TracedRequest): void {
    if (traced.digest !== undefined) this.marks.entered(traced);
    let isOver = false;
    const settle = (): void => {
      if (isOver) return;
      isOver = true;
      response.off('close', settle);
      socket.off('close', settle);
      if (traced.digest === undefined && traced.kind === 'denied') this.marks.entered(traced);
      if (traced.digest !== undefined || traced.kind === 'denied') this.marks.settled(traced);
    };
    response.once('close', settle);
    // The reply to a pipelined request emits no event when its connection closes.
    socket.setMaxListeners(0).once('close', settle);
  }

  #answersOf(app: INestApplication): SessionAnswers {
    const answers = this.#answers.get(app) ?? new SessionAnswers();
    this.#answers.set(app, answers);
    return answers;
  }

  readonly #onCheck = (message: unknown): void => {
    const traced = this.#current.getStore();
    if (!traced) return;
    const check = message as CheckMessage;
    traced.checked(check);
    if (check.joined && traced.digest !== undefined) traced.joinedTo = this.#calling.get(traced.digest);
  };

  readonly #onDenial = (): void => this.#current.getStore()?.denied();

  readonly #onCalls = {
    start: (call: CallMessage): void => {
      const traced = this.#current.getStore();
      if (traced?.digest === undefined || call.operation !== 'user_details') return;
      this.#askedAt.set(call, performance.now());
      this.#calling.set(traced.digest, traced.id);
      this.marks.called(traced);
    },
    end: (): void => undefined,
    asyncStart: (): void => undefined,
    asyncEnd: (call: CallMessage): void => {
      const traced = this.#current.getStore();
      const askedAt = this.#askedAt.get(call);
      if (traced?.digest === undefined || askedAt === undefined) return;
      const { digest, id } = traced;
      if (call.outcome !== 'unavailable')
        traced.answers.record(digest, call.outcome === 'authenticated', askedAt);
      // The checks that joined the call are reported right after it.
      setImmediate(() => this.#calling.get(digest) === id && this.#calling.delete(digest));
    },
    error: (): void => undefined,
  };
}

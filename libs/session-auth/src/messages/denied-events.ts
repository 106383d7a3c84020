import 'reflect-metadata';
import { Catch, type ExceptionFilter, type ExecutionContext } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import { addFirst } from '../guard/enhancers.js';

const denied = new WeakSet<object>();

/**
 * The exceptions of {@link dropEvent}. Nest selects a filter by `instanceof`: the exceptions keep their
 * class, for the filters of an application.
 */
abstract class DeniedEvent extends Error {
  static override [Symbol.hasInstance](exception: unknown): boolean {
    return denied.has(exception as object);
  }
}

/**
 * Completes a denied event. Nest would pass its exception to kafkajs, which delivers the event again and
 * again, and no other of its partition.
 */
@Catch(DeniedEvent)
class DeniedEventFilter implements ExceptionFilter {
  catch(): Observable<undefined> {
    return of(undefined);
  }
}

const FILTER = new DeniedEventFilter();

/**
 * Applies the filter to a class with message handlers, at most once. Filters of its own come before it,
 * because Nest asks the last one first.
 */
export function completeDeniedEvents(target: object): void {
  addFirst(target, 'filter', FILTER);
}

/** Marks the exception of a denied event, which the filter of its handler then drops. */
export function dropEvent(rejection: Promise<never>): Promise<never> {
  return rejection.catch((exception: unknown) => {
    denied.add(exception as object);
    throw exception;
  });
}

/** Nest's metadata key of the kind of a message handler, and the kind of `@EventPattern()`. */
const KIND_METADATA = 'microservices:handler_type';
const EVENT = 2;

/**
 * Returns whether Nest processes a message as an event of Kafka: its handler is for events, or it names no
 * address for a reply.
 */
export function isKafkaEvent(context: ExecutionContext): boolean {
  const kafka = context.getArgByIndex<KafkaContext | undefined>(1);
  if (typeof kafka?.getConsumer !== 'function' || typeof kafka.getMessage !== 'function') return false;
  const { headers } = kafka.getMessage();
  const isEventHandler = Reflect.getMetadata(KIND_METADATA, context.getHandler()) === EVENT;
  return isEventHandler || !headers?.kafka_correlationId || !headers.kafka_replyTopic;
}

/** The used part of Nest's context of Kafka. */
interface KafkaContext {
  getConsumer?(): unknown;
  getMessage?(): { readonly headers?: Readonly<Record<string, unknown>> };
}

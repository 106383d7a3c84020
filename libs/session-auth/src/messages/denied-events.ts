import 'reflect-metadata';
import { Catch, type ExceptionFilter, type ExecutionContext } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import { methodOf } from '../guard/access-metadata.js';
import { addFirst } from '../guard/enhancers.js';
import { hasMethods } from './grpc-call.js';

const denied = new WeakSet<object>();

/** Nest selects a filter by `instanceof`: the exceptions keep their class, for filters of an application. */
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

/** Filters of the class come before it, because Nest asks the last one first. */
export function completeDeniedEvents(target: object): void {
  addFirst(target, 'filter', FILTER);
}

export function dropEvent(rejection: Promise<never>): Promise<never> {
  return rejection.catch((exception: unknown) => {
    denied.add(exception as object);
    throw exception;
  });
}

/** Nest's kind of a message handler, and that of `@EventPattern()`. */
const KIND_METADATA = 'microservices:handler_type';
const EVENT = 2;

/**
 * Returns whether Nest processes a message as an event of Kafka: its handler is for events, or it names no
 * address for a reply.
 */
export function isKafkaEvent(context: ExecutionContext): boolean {
  const kafka = context.getArgByIndex<KafkaContext>(1);
  if (!hasMethods(kafka, 'getConsumer', 'getMessage')) return false;
  const { headers } = kafka.getMessage();
  const method = methodOf(context.getHandler(), context.getClass());
  const isEventHandler = Reflect.getMetadata(KIND_METADATA, method) === EVENT;
  return isEventHandler || !headers?.kafka_correlationId || !headers.kafka_replyTopic;
}

interface KafkaContext {
  getMessage(): { readonly headers?: Readonly<Record<string, unknown>> };
}

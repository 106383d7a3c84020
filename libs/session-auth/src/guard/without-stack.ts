/**
 * Builds an error without a stack trace. A refusal is an answer and not a fault: under a flood of refused tokens
 * the trace would be nearly all of its cost.
 */
export function withoutStack<Built extends Error>(build: () => Built): Built {
  const limit = Error.stackTraceLimit;
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return build();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}

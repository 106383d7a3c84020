import 'reflect-metadata';

/** Nest's metadata keys of `@UseGuards()`, `@UseInterceptors()` and `@UseFilters()`. Nest calls what they name the enhancers of a handler. */
const KEYS = { guard: '__guards__', interceptor: '__interceptors__', filter: '__exceptionFilters__' } as const;

/** Returns the enhancers that decorators name on a class, on a class that it extends, or on a handler. */
export function enhancersOf(target: object, kind: keyof typeof KEYS): readonly unknown[] {
  const enhancers: unknown = Reflect.getMetadata(KEYS[kind], target);
  return Array.isArray(enhancers) ? enhancers : [];
}

/** Adds an enhancer to a class, before those that its decorators name, and at most once. */
export function addFirst(target: object, kind: keyof typeof KEYS, enhancer: object): void {
  const others = enhancersOf(target, kind);
  if (!others.includes(enhancer)) Reflect.defineMetadata(KEYS[kind], [enhancer, ...others], target);
}

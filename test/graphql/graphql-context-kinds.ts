/** Kinds of the `context` option of `GraphQLModule`. */
export type ContextKind = 'default' | 'object' | 'one object' | 'the first request' | 'an instance';

interface FirstArgument {
  readonly req?: unknown;
}

class OwnContext {
  readonly made = 'by a class';
}

export function contextOption(
  kind: Exclude<ContextKind, 'default'>,
): (first: FirstArgument) => Record<string, unknown> {
  const shared: Record<string, unknown> = {};
  const instance = new OwnContext() as unknown as Record<string, unknown>;
  switch (kind) {
    case 'object':
      // Nest accepts an object too; not every driver has it in its types.
      return shared as never;
    case 'one object':
      return () => shared;
    case 'the first request':
      return (first) => {
        shared.req ??= first.req ?? first;
        return shared;
      };
    case 'an instance':
      return () => instance;
  }
}

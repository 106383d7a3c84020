/** The parts of graphql-js that are read here. The library does not import it: an application may lack it. */
interface SchemaType {
  readonly name?: string;
  /** Of a list and of a type that may not be null. */
  readonly ofType?: SchemaType;
  getFields?(): Readonly<Record<string, SchemaField>>;
  /** Of a union. */
  getTypes?(): readonly SchemaType[];
  getInterfaces?(): readonly SchemaType[];
}

interface SchemaField {
  readonly type: SchemaType;
  readonly resolve?: unknown;
  readonly subscribe?: unknown;
}

/** A schema of graphql-js. */
export interface Schema {
  getQueryType(): SchemaType | null | undefined;
  getMutationType(): SchemaType | null | undefined;
  getSubscriptionType(): SchemaType | null | undefined;
  getPossibleTypes(type: SchemaType): readonly SchemaType[];
}

/** Names of the root types as resolvers know them, whatever the schema calls them. */
export type RootType = 'Query' | 'Mutation' | 'Subscription';

/** A field of a root type, and the names of all types that a selection below it can reach. */
export interface RootField {
  readonly type: RootType;
  readonly name: string;
  readonly reaches: ReadonlySet<string>;
}

/** Returns the root fields of a schema that have a resolver; the others give `null`. */
export function rootFieldsOf(schema: Schema): RootField[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
    ['Subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([type, root]) =>
    Object.entries(root?.getFields?.() ?? {})
      .filter(([, { resolve, subscribe }]) => resolve ?? subscribe)
      .map(([name, field]) => ({ type, name, reaches: reachedFrom(field.type, schema) })),
  );
}

function reachedFrom(start: SchemaType, schema: Schema): ReadonlySet<string> {
  const reached = new Set<string>();
  const interfaces = new Set<string>();
  const waiting = [start];
  for (let type = waiting.pop(); type; type = waiting.pop()) {
    const named = namedTypeOf(type);
    if (named.name === undefined || reached.has(named.name)) continue;
    reached.add(named.name);
    // Resolvers of an interface serve its objects, whose siblings are not reached by that.
    for (const { name } of named.getInterfaces?.() ?? []) if (name !== undefined) interfaces.add(name);
    waiting.push(...neighboursOf(named, schema));
  }
  return new Set([...reached, ...interfaces]);
}

function neighboursOf(type: SchemaType, schema: Schema): readonly SchemaType[] {
  if (type.getTypes) return type.getTypes();
  if (!type.getFields) return [];
  return [...Object.values(type.getFields()).map((field) => field.type), ...schema.getPossibleTypes(type)];
}

function namedTypeOf(type: SchemaType): SchemaType {
  let named = type;
  while (named.ofType) named = named.ofType;
  return named;
}

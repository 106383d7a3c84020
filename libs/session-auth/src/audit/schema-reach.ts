import type { ModulesContainer } from '@nestjs/core';

/** The used part of a type of graphql-js, which is not imported, because an application may not have it. */
interface SchemaType {
  /** Lists and non-null types have none. */
  readonly name: string;
  readonly ofType?: SchemaType;
  getFields?(): Readonly<Record<string, SchemaField>>;
  getTypes?(): readonly SchemaType[];
  getInterfaces?(): readonly SchemaType[];
}

interface SchemaField {
  readonly type: SchemaType;
  readonly resolve?: unknown;
  readonly subscribe?: unknown;
}

export interface Schema {
  getQueryType(): SchemaType | null | undefined;
  getMutationType(): SchemaType | null | undefined;
  getSubscriptionType(): SchemaType | null | undefined;
  getPossibleTypes(type: SchemaType): readonly SchemaType[];
}

/** Names of the root types in resolvers. Their names in the schema may differ. */
type RootType = 'Query' | 'Mutation' | 'Subscription';

/** A field of a root type, with the names of all types that a selection below it can reach. */
export interface RootField {
  readonly type: RootType;
  readonly name: string;
  readonly reaches: ReadonlySet<string>;
}

/** Returns the root fields of a schema that have a resolver. The others always return `null`. */
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
  const queue = [start];
  for (let type = queue.pop(); type; type = queue.pop()) {
    const named = namedTypeOf(type);
    if (reached.has(named.name)) continue;
    reached.add(named.name);
    // Resolvers of an interface apply to its objects. Other objects of the interface are not reached that
    // way.
    for (const { name } of named.getInterfaces?.() ?? []) interfaces.add(name);
    queue.push(...neighboursOf(named, schema));
  }
  return new Set([...reached, ...interfaces]);
}

function neighboursOf(type: SchemaType, schema: Schema): readonly SchemaType[] {
  if (type.getTypes) return type.getTypes();
  if (!type.getFields) return [];
  return [...Object.values(type.getFields()).map((field) => field.type), ...schema.getPossibleTypes(type)];
}

function namedTypeOf(type: SchemaType): SchemaType {
  return type.ofType ? namedTypeOf(type.ofType) : type;
}

/** Returns those of the schema that Nest has built: the host throws if it has built none. */
export function builtRootFields(modules: ModulesContainer): readonly RootField[] | undefined {
  const providers = [...modules.values()].flatMap((module) => [...module.providers.values()]);
  const host = providers.find(
    ({ token }) => typeof token === 'function' && token.name === 'GraphQLSchemaHost',
  );
  try {
    return rootFieldsOf((host?.instance as { readonly schema: Schema }).schema);
  } catch {
    return undefined;
  }
}

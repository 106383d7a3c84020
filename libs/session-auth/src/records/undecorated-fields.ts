import { TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { fieldsOf, type RecordClass } from './field-descriptions.js';

/**
 * Returns the paths of the fields that a record class and its nested classes declare without a
 * class-validator decorator: the service can't set them. Finds fields that exist on an instance, and those
 * with `@Expose()`. A field without an initial value exists there only if TypeScript compiles it with
 * `useDefineForClassFields`, its default from the target ES2022 on.
 */
export function undecoratedFields(record: RecordClass, seen: ReadonlySet<RecordClass> = new Set()): string[] {
  const fields = fieldsOf(record);
  const enclosing = new Set([...seen, record]);
  const declared = new Set(fields.map(({ name }) => name));
  const own = visibleFields(record).filter((name) => !declared.has(name));
  const within = fields.flatMap(({ name, nested }) =>
    nested && !enclosing.has(nested)
      ? undecoratedFields(nested, enclosing).map((path) => `${name}.${path}`)
      : [],
  );
  return [...own, ...within];
}

/** A field with `@Exclude()` is absent on purpose. A getter with `@Expose()` is not a field. */
function visibleFields(record: RecordClass): string[] {
  const exposed = defaultMetadataStorage.getExposedProperties(record, TransformationType.PLAIN_TO_CLASS);
  const names = new Set([
    ...Object.keys(new record()),
    ...exposed.filter((name) => !(name in record.prototype)),
  ]);
  const isExcluded = (name: string): boolean =>
    (defaultMetadataStorage.findExcludeMetadata(record, name) as unknown) !== undefined;
  return [...names].filter((name) => !isExcluded(name));
}

import { plainToInstance } from 'class-transformer';
import { fieldsOf, isTransformed, type FieldDescription } from './field-descriptions.js';

type Fields = Record<string, unknown>;
type Build = (json: object) => object;

/** Compiles a function that builds a record from JSON with its declared fields only, at every depth, and without the field `except`. */
export function compileRecordBuilder(record: new () => object, except?: string): Build {
  const fields = fieldsOf(record).filter(({ name }) => name !== except);
  return fields.some((field) => isTransformed(record, field)) ? transformerOf(record) : fieldCopierOf(record, fields);
}

/** Copies the declared fields unchanged, and builds the values of nested classes. */
function fieldCopierOf(record: new () => object, fields: readonly FieldDescription[]): Build {
  const steps = fields.map(({ name, nested }) => ({ name, buildNested: nested && compileRecordBuilder(nested) }));
  return (json) => {
    const instance = new record() as Fields;
    for (const { name, buildNested } of steps) {
      const value: unknown = Object.hasOwn(json, name) ? (json as Fields)[name] : undefined;
      instance[name] = buildNested ? mapObjects(value, buildNested) : value;
    }
    return instance;
  };
}

function mapObjects(value: unknown, build: Build): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, build));
  return typeof value === 'object' && value !== null ? build(value) : value;
}

/** Builds the record with class-transformer, for classes that use more of it than nested types. */
function transformerOf(record: new () => object): Build {
  return (json) => {
    const instance = plainToInstance(record, json);
    removeUndeclared(instance);
    return instance;
  };
}

function removeUndeclared(value: unknown): void {
  if (Array.isArray(value)) value.forEach(removeUndeclared);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const fields = fieldsOf(value.constructor as new () => object);
  for (const name of Object.keys(value)) {
    const field = fields.find((declared) => declared.name === name);
    if (!field) Reflect.deleteProperty(value, name);
    else if (field.nested) removeUndeclared((value as Fields)[name]);
  }
}

import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'yaml';
import type { WireRequest } from './send.js';

/** The used part of a JSON schema. */
export interface Schema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

/** The used part of an OpenAPI document, without references. */
interface ApiDocument {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly securitySchemes: Readonly<Record<string, Parameter>> };
}

/** An operation of the document with its path and method. */
export interface DocumentedOperation extends Operation {
  readonly path: string;
  readonly method: string;
}

/** Values that a valid request needs, and that no schema contains. */
interface KnownValues {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Reads a document in YAML, and resolves its references. */
export function readApiDocument(yaml: string): ApiDocument {
  const document: unknown = parse(yaml);
  return withoutReferences(document, document) as ApiDocument;
}

function withoutReferences(node: unknown, document: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => withoutReferences(item, document));
  if ('$ref' in node) return withoutReferences(targetOf(String(node.$ref), document), document);
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, withoutReferences(value, document)]),
  );
}

function targetOf(reference: string, document: unknown): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce((node, name) => (node as Readonly<Record<string, unknown>>)[name], document);
}

export function operationsOf({ paths }: ApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
}

/** Generates requests of an operation: valid ones, and such with other headers, fields, types and bytes. */
export function requestsOf(
  document: ApiDocument,
  operation: DocumentedOperation,
  known: KnownValues,
): Arbitrary<WireRequest> {
  const { path, method, parameters, security = document.security, requestBody } = operation;
  const schemes = Object.keys(security[0] ?? {}).map((name) => document.components.securitySchemes[name]);
  const headers = [...parameters, ...schemes].flatMap((parameter) =>
    parameter ? [[parameter.name, headerValue(parameter.name, known)] as const] : [],
  );
  const [[mediaType, { schema }] = ['', { schema: { type: 'null' } }]] = Object.entries(
    requestBody?.content ?? {},
  );
  return fc
    .record({
      headers: fc.record(Object.fromEntries(headers), { requiredKeys: [] }),
      type: mostly(mediaType, fc.constantFrom('text/plain', 'application/xml', '')),
      body: fc.option(bodyOf(schema, known.body), { nil: undefined, freq: 9 }),
    })
    .map(({ headers: values, type, body }) => ({
      method,
      path,
      headers: { ...values, ...(requestBody && type !== '' && { 'Content-Type': type }) },
      ...(requestBody && body !== undefined && { body }),
    }));
}

/** Bytes that HTTP allows in the value of a header. */
const HEADER_VALUES = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 80,
});

function headerValue(name: string, { headers }: KnownValues): Arbitrary<string> {
  const value = headers[name];
  return value === undefined ? HEADER_VALUES : mostly(value, HEADER_VALUES);
}

function bodyOf(schema: Schema, known: object): Arbitrary<Buffer> {
  const json = fc
    .oneof(fc.constant(known), valuesOf(schema), fc.jsonValue())
    .map((value) => Buffer.from(JSON.stringify(value)));
  return fc.oneof(
    { weight: 5, arbitrary: json },
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
}

function valuesOf({ type, properties = {} }: Schema): Arbitrary<unknown> {
  if (type === 'object') {
    const fields = Object.entries(properties).map(
      ([name, schema]) => [name, mostlyOf(valuesOf(schema), fc.jsonValue())] as const,
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (type === 'string') return fc.string({ unit: 'binary' });
  if (type === 'boolean') return fc.boolean();
  return fc.double();
}

function mostly<Value>(value: Value, others: Arbitrary<Value>): Arbitrary<Value> {
  return mostlyOf(fc.constant(value), others);
}

function mostlyOf<Value>(usual: Arbitrary<Value>, others: Arbitrary<Value>): Arbitrary<Value> {
  return fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: others });
}

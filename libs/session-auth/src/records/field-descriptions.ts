import { TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import type { ValidatorConstraintInterface } from 'class-validator';
import { getMetadataStorage } from 'class-validator/cjs/metadata/MetadataStorage.js';
import { isLate } from '../contract/late-results.js';

export type RecordClass = new () => object;
type ValidationMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

type ConstraintMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidatorConstraints']
>[number];

type Check = (value: unknown, owner: object) => boolean;

interface ValueCheck {
  /** `owner` is the record that contains the field. */
  readonly accepts: Check;
  /** Text of the violated rule, with `$property` for the field, such as `$property must be a string`. */
  readonly expectation: string;
}

export interface FieldDescription {
  readonly name: string;
  readonly checks: readonly ValueCheck[];
  /** The field is checked only if all of these return `true` (`@IsOptional`, `@ValidateIf`). */
  readonly conditions: readonly Check[];
  /** Class of the nested objects of the field (`@ValidateNested` with `@Type`). */
  readonly nested: RecordClass | undefined;
}

const described = new WeakMap<object, readonly FieldDescription[]>();

/** Returns the fields that a class declares. They are read once, at the first use of the class. */
export function fieldsOf(record: RecordClass): readonly FieldDescription[] {
  const fields = described.get(record) ?? describeRecord(record);
  described.set(record, fields);
  return fields;
}

/** Reads the declarations of a class from class-validator, grouped by field. */
function describeRecord(record: RecordClass): FieldDescription[] {
  const byField = new Map<string, ValidationMetadata[]>();
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(
    record,
    record.name,
    false,
    false,
  )) {
    byField.set(metadata.propertyName, [...(byField.get(metadata.propertyName) ?? []), metadata]);
  }
  return [...byField].map(([name, metadatas]) => ({
    name,
    checks: metadatas
      .filter(({ type }) => type === 'customValidation')
      .flatMap((metadata) => checksOf(metadata)),
    conditions: metadatas
      .filter(({ type }) => type === 'conditionalValidation')
      .map((metadata) => conditionOf(metadata)),
    nested: metadatas.some(({ type }) => type === 'nestedValidation') ? nestedClass(record, name) : undefined,
  }));
}

/** Returns whether a field uses class-transformer for more than its nested class. */
export function isTransformed(record: RecordClass, { name, nested }: FieldDescription): boolean {
  const storage = defaultMetadataStorage;
  const transforms = storage.findTransformMetadatas(record, name, TransformationType.PLAIN_TO_CLASS);
  const typed: unknown = storage.findTypeMetadata(record, name);
  const renamed: unknown = [
    storage.findExposeMetadata(record, name),
    storage.findExcludeMetadata(record, name),
  ].find(Boolean);
  return transforms.length > 0 || renamed !== undefined || (typed !== undefined && nested === undefined);
}

export function hasAsyncValidators(record: RecordClass): boolean {
  const storage = getMetadataStorage();
  return storage
    .getTargetValidationMetadatas(record, record.name, false, false)
    .some((metadata) =>
      storage.getTargetValidatorConstraints(metadata.constraintCls).some(({ async }) => async),
    );
}

function checksOf(metadata: ValidationMetadata): ValueCheck[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(metadata.constraintCls)
    .map((constraint) => ({
      accepts: checkOf(constraint.instance, metadata),
      expectation: expectationOf(constraint, metadata),
    }));
}

function checkOf(validator: ValidatorConstraintInterface, metadata: ValidationMetadata): Check {
  const accepts = callValidator(validator, metadata);
  const { each, validateIf } = metadata;
  if (!each && !validateIf) return accepts;
  return (value, owner) => {
    if (validateIf && !applies(validateIf(owner, value))) return true;
    return each && Array.isArray(value) ? value.every((item) => accepts(item, owner)) : accepts(value, owner);
  };
}

function callValidator(
  validator: ValidatorConstraintInterface,
  { propertyName, constraints }: ValidationMetadata,
): Check {
  return (value, object) => {
    const targetName = object.constructor.name;
    const args = { value, object, property: propertyName, constraints, targetName };
    const verdict = validator.validate(value, args);
    return !isLate(verdict) && verdict;
  };
}

/**
 * Returns the default message of a validator. It is built before there is a value, so that it can't contain
 * one. A `message` of the application is not used: it is for users, and need not name the type.
 */
function expectationOf({ instance, name }: ConstraintMetadata, metadata: ValidationMetadata): string {
  const constraints = metadata.constraints as readonly unknown[] | undefined;
  const args = {
    value: undefined,
    object: {},
    property: '$property',
    constraints: [...(constraints ?? [])],
    targetName: '',
  };
  try {
    const message = instance.defaultMessage?.(args) ?? '';
    if (message !== '') return args.constraints.reduce<string>(fillIn, message);
  } catch {
    // The message needs the value.
  }
  return `$property must satisfy ${name}`;
}

function fillIn(message: string, constraint: unknown, index: number): string {
  return message.replaceAll(`$constraint${index + 1}`, () => String(constraint));
}

/** A condition that answers later applies. */
function applies(condition: boolean): boolean {
  return isLate(condition) || condition;
}

function conditionOf({ constraints }: ValidationMetadata): Check {
  const [condition] = constraints as [(owner: object, value: unknown) => boolean];
  return (value, owner) => applies(condition(owner, value));
}

function nestedClass(record: RecordClass, name: string): RecordClass | undefined {
  const metadata = defaultMetadataStorage.findTypeMetadata(record, name) as
    { typeFunction(): unknown } | undefined;
  const type = metadata?.typeFunction();
  return typeof type === 'function' ? (type as RecordClass) : undefined;
}

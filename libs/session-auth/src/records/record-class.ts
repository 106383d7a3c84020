import { plainToInstance, Type } from 'class-transformer';
import type { ValidationError, ValidatorOptions } from 'class-validator';
import { getMetadataStorage } from 'class-validator/cjs/metadata/MetadataStorage.js';
import { ValidationExecutor } from 'class-validator/cjs/validation/ValidationExecutor.js';
import { Validator } from 'class-validator/cjs/validation/Validator.js';
import { invalidOption } from '../contract/errors.js';
import { isLate } from '../contract/late-results.js';
import { CclInfo, UserRecord, type UserRecordClass } from '../contract/record/user-record.js';
import { type PrepareReader, withHiddenToken } from '../contract/record/user-reader.js';
import { frozenCopy } from './frozen-copy.js';
import { pathOf, type Refusal, reporting } from './refusal.js';

type Fields = Record<string, unknown>;
type Validation = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

type Condition = (instance: object, value: unknown) => unknown;

const TOKEN_FIELD = 'auth_token';

/** Those of `ValidationPipe({ whitelist: true })`. A nested object of a class without decorators is refused. */
const OPTIONS: ValidatorOptions = {
  whitelist: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
};

// A bundler may have chosen another copy of the package than that of UserRecord.
Type(() => CclInfo)(UserRecord.prototype, 'ccl_info');

/**
 * Prepares the reader of a class of the application: class-transformer builds the record, class-validator
 * checks it.
 */
export const prepareReader =
  (record: UserRecordClass): PrepareReader =>
  (share) => {
    rejectUnusableClass(record);
    const hidden = withHiddenToken(record);
    // class-transformer sets no getter and no method, which it looks for in the class itself.
    const { prototype }: { readonly prototype: object } = hidden;
    for (const [name, member] of Object.entries(
      Object.getOwnPropertyDescriptors(Object.getPrototypeOf(prototype) as object),
    ))
      if (!Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, member);
    const unusable = `must not make a validator or a transformation of ${record.name} throw an error, or answer later`;
    const read = reporting(unusable, (json) => {
      const user = plainToInstance(hidden, json) as Fields;
      if (isLate(user[TOKEN_FIELD])) return [TOKEN_FIELD, 'must be a string'];
      const refusal = detach(user) ?? validate(user, unusable);
      if (refusal) return refusal;
      normalize(user);
      share?.(user);
      return Object.freeze(user);
    });
    return { fields: new Set(validationsOf(record).map(({ propertyName }) => propertyName)), read };
  };

function rejectUnusableClass(record: UserRecordClass): void {
  const names = Object.keys(sampleOf(record));
  if (names.includes(TOKEN_FIELD))
    invalidOption('userRecord', 'declares auth_token again', 'Leave it to UserRecord');
  const validations = validationsOf(record);
  const undecorated = names.filter((name) => !validations.some(({ propertyName }) => propertyName === name));
  if (undecorated.length > 0)
    invalidOption(
      'userRecord',
      `has fields without a decorator of class-validator, which the service can't set: ${undecorated.map((name) => `'${name}'`).join(', ')}`,
      'Decorate them, for example with @IsOptional() @IsString(), or make them getters',
    );
  const storage = getMetadataStorage();
  const isAsync = ({ constraintCls }: Validation): boolean =>
    storage.getTargetValidatorConstraints(constraintCls).some(({ async }) => async);
  if (validations.some(isAsync))
    invalidOption('userRecord', 'has an asynchronous validator', 'Use validators that answer at once');
}

/** Records are created without arguments, before their fields are set. */
function sampleOf(record: UserRecordClass): object {
  try {
    return new record();
  } catch {
    return invalidOption(
      'userRecord',
      'has a constructor that throws',
      'Declare fields only, without arguments',
    );
  }
}

const described = new WeakMap<object, readonly Validation[]>();

/**
 * Returns what the decorators of a class say. They are read once: class-validator looks through all of its
 * metadata.
 */
function validationsOf(record: object): readonly Validation[] {
  const validations =
    described.get(record) ??
    getMetadataStorage().getTargetValidationMetadatas(record as UserRecordClass, '', false, false);
  described.set(record, validations);
  return validations;
}

/** Returns the objects in the fields with `@ValidateNested()`, and in lists there. */
function nestedIn(instance: Fields): readonly (readonly [name: string, object: Fields])[] {
  return validationsOf(instance.constructor)
    .filter(({ type }) => type === 'nestedValidation')
    .flatMap(({ propertyName }) =>
      [instance[propertyName]]
        .flat(Infinity)
        .filter((item) => typeof item === 'object' && item !== null && !Object.isFrozen(item))
        .map((item) => [propertyName, item as Fields] as const),
    );
}

/**
 * Replaces plain values by frozen copies, at every depth, and returns why one can't be in a record: code of
 * the application may have put a promise there. A condition that answers later would always apply.
 */
function detach(instance: Fields, path: readonly string[] = []): Refusal | undefined {
  let refusal: Refusal | undefined;
  for (const [name, value] of Object.entries(instance)) {
    const copy = frozenCopy(value, (requirement) => (refusal ??= [pathOf([...path, name]), requirement]));
    if (copy !== value) instance[name] = copy;
  }
  for (const [name, object] of nestedIn(instance)) {
    const nested = detach(object, [...path, name]);
    refusal ??= nested;
  }
  for (const { type, propertyName, constraints, validateIf } of validationsOf(instance.constructor)) {
    const [condition] = (type === 'conditionalValidation' ? constraints : []) as readonly Condition[];
    for (const applies of [condition, validateIf])
      if (isLate(applies?.(instance, instance[propertyName])))
        refusal ??= [pathOf([...path, propertyName]), 'must have a condition that answers at once'];
  }
  return refusal;
}

/**
 * Validates as `validateSync()` does, which would accept what a validator answers later, and leave a rejection
 * unhandled.
 */
function validate(user: object, unusable: string): Refusal | undefined {
  const executor = new ValidationExecutor(new Validator(), OPTIONS);
  const errors: ValidationError[] = [];
  try {
    executor.execute(user, '', errors);
  } finally {
    for (const promise of executor.awaitingPromises) isLate(promise);
  }
  if (executor.awaitingPromises.length > 0) return ['', unusable];
  const [error] = executor.stripEmptyErrors(errors);
  return error && refusalBy(error);
}

/** The message of an error may contain the value; the name of its rule is a name of code. */
function refusalBy(error: ValidationError): Refusal {
  const path: string[] = [];
  let inner = error;
  for (;;) {
    // An object of a class without decorators is an error without a property.
    if ((inner.property as string | undefined) !== undefined) path.push(inner.property);
    const [child] = inner.children ?? [];
    if (inner.constraints || !child) break;
    inner = child;
  }
  const [rule = 'its rules'] = Object.keys(inner.constraints ?? {});
  return [pathOf(path), `must satisfy ${rule}`];
}

/** Turns `null` into `undefined`, and freezes nested objects, at every depth. */
function normalize(instance: Fields): void {
  for (const [name, value] of Object.entries(instance)) if (value === null) instance[name] = undefined;
  for (const [, object] of nestedIn(instance)) {
    normalize(object);
    Object.freeze(object);
  }
}

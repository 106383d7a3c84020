type Handler = (...parameters: never[]) => unknown;

type ParameterOf<Target, Key, Index extends number> = Key extends keyof Target
  ? Target[Key] extends Handler
    ? Parameters<Target[Key]>[Index]
    : unknown
  : unknown;

/**
 * Whether a parameter can receive a value: its type may be wider, or a subclass that the application uses.
 */
type Fits<Value, Parameter> = undefined extends Value
  ? undefined extends Parameter
    ? Overlaps<Value, Parameter>
    : false
  : Overlaps<Value, Parameter>;

type Overlaps<Value, Parameter> = [Parameter] extends [Value]
  ? true
  : [NonNullable<Value>] extends [Parameter]
    ? true
    : false;

/**
 * Whether a parameter can receive a value, or one of others: the compiler does not see which registration
 * checks a handler.
 */
type FitsAny<Value, Others, Parameter> =
  Fits<Value, Parameter> extends true
    ? true
    : true extends (Others extends unknown ? Fits<Others, Parameter> : never)
      ? true
      : false;

declare const parameter: unique symbol;

/**
 * Appears in the error message of the compiler: a parameter with this decorator must accept `Type`. Not the
 * type of any value.
 */
interface ParameterMustAccept<Name extends string, Type> {
  readonly [parameter]: readonly [Name, Type];
}

/**
 * A parameter decorator that compiles only on a parameter whose type can hold `Value`, and `undefined` if
 * `Value` includes it.
 */
export type ParameterDecoratorFor<Name extends string, Value, Others = never> = <
  Target extends object,
  Key extends string | symbol | undefined,
  Index extends number,
>(
  target: Target,
  key: FitsAny<Value, Others, ParameterOf<Target, Key, Index>> extends true
    ? Key
    : ParameterMustAccept<Name, Value>,
  index: Index,
) => void;

/**
 * Whether a parameter can receive the field of one of the records: the compiler does not see which
 * registration checks a handler.
 */
type FitsField<User, Name, Parameter> = true extends (
  User extends unknown ? (Name extends keyof User ? Fits<User[Name], Parameter> : never) : never
)
  ? true
  : false;

/**
 * A parameter decorator that compiles only on a parameter whose type can hold the field of one of the
 * records.
 */
export type FieldDecoratorFor<User, Name extends string> = <
  Target extends object,
  Key extends string | symbol | undefined,
  Index extends number,
>(
  target: Target,
  key: FitsField<User, Name, ParameterOf<Target, Key, Index>> extends true
    ? Key
    : ParameterMustAccept<Name, FieldOf<User, Name>>,
  index: Index,
) => void;

/** The names of the fields of each record. */
export type NamesOf<User> = User extends unknown ? { [Name in keyof User]-?: Name }[keyof User] : never;

/** The type of a field in one of the records, or in any of them. */
type FieldOf<User, Name> = User extends unknown ? (Name extends keyof User ? User[Name] : never) : never;

/** The names of the boolean fields of each record. */
export type FlagsOf<User> = User extends unknown
  ? { [Field in keyof User]-?: NonNullable<User[Field]> extends boolean ? Field : never }[keyof User]
  : never;

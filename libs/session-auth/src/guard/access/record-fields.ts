/** The names of the fields of each record. */
export type NamesOf<User> = User extends unknown ? { [Name in keyof User]-?: Name }[keyof User] : never;

/** The type of a field in one of the records, or in any of them. */
export type FieldOf<User, Name> = User extends unknown ? (Name extends keyof User ? User[Name] : never) : never;

/** The names of the boolean fields of each record. */
export type FlagsOf<User> = User extends unknown
  ? { [Field in keyof User]-?: NonNullable<User[Field]> extends boolean ? Field : never }[keyof User]
  : never;

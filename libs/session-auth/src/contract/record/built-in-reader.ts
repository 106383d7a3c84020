import { fieldsOf, type FieldDescription } from './field-descriptions.js';
import { CclInfo, type UserRecord, UserRecord as BuiltInRecord } from './user-record.js';

/** The fields of a record, or of JSON, by their names. */
type Fields<Owner> = { -readonly [Name in keyof Owner]: unknown };

/** Inherits what other code added to `Object.prototype`. */
const NOTHING: Partial<Fields<UserRecord> & Fields<CclInfo>> = {};

/**
 * Reads JSON into a record of the built-in class, without its `auth_token`. Returns `undefined` for JSON that
 * the decorators of the class reject, and may return it for any other: the compiled reader then decides.
 * Reads no inherited property.
 */
export function readBuiltIn<User extends object>(
  json: Fields<UserRecord>,
  record: new () => User,
): User | undefined {
  const user = new record() as Fields<UserRecord>;
  const cclInfo = json.ccl_info ?? undefined;
  if (!copyTexts(json, user) || !copyFlags(json, user) || inheritsField(json)) return undefined;
  if (cclInfo !== undefined && (user.ccl_info = readCclInfo(cclInfo)) === undefined) return undefined;
  return user as User;
}

/**
 * Returns whether a class is the built-in one, with the decorators of this package: an application may have
 * added some.
 */
export function hasOwnDecorators(record: new () => object): boolean {
  return record === BuiltInRecord && areOwnFields(fieldsOf(record), fieldsOf(CclInfo));
}

/**
 * Returns whether these are the fields of the built-in class and of its `ccl_info`, each with `@IsOptional()`
 * and one type.
 */
export function areOwnFields(fields: readonly FieldDescription[], ids: readonly FieldDescription[]): boolean {
  const isDecoratedOnce = ({ checks, conditions }: FieldDescription): boolean =>
    checks.length === 1 && conditions.length === 1;
  return fields.length === 15 && ids.length === 3 && [...fields, ...ids].every(isDecoratedOnce);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || value === undefined;
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean' || value === undefined;
}

function isId(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value);
}

/** Field by field, because V8 reads and writes fields with fixed names several times as fast. */
function copyTexts(json: Fields<UserRecord>, user: Fields<UserRecord>): boolean {
  const isNamed =
    isText((user.username = json.username ?? undefined)) &&
    isText((user.first_name = json.first_name ?? undefined)) &&
    isText((user.last_name = json.last_name ?? undefined)) &&
    isText((user.email = json.email ?? undefined));
  return (
    isNamed &&
    isText((user.role = json.role ?? undefined)) &&
    isText((user.sub_role = json.sub_role ?? undefined)) &&
    isText((user.preffered_language = json.preffered_language ?? undefined)) &&
    isText((user.client_name = json.client_name ?? undefined)) &&
    isText((user.display_label = json.display_label ?? undefined))
  );
}

function copyFlags(json: Fields<UserRecord>, user: Fields<UserRecord>): boolean {
  return (
    isFlag((user.help_checkbox = json.help_checkbox ?? undefined)) &&
    isFlag((user.benestream_enabled = json.benestream_enabled ?? undefined)) &&
    isFlag((user.ats_enabled = json.ats_enabled ?? undefined)) &&
    isFlag((user.obs_enabled = json.obs_enabled ?? undefined))
  );
}

/** Anything but a parsed object inherits from another prototype. */
function readCclInfo(value: object): CclInfo | undefined {
  if (inheritsMore(value)) return undefined;
  const json = value as Fields<CclInfo>;
  const info = new CclInfo() as Fields<CclInfo>;
  const isValid =
    isId((info.client_id = json.client_id ?? undefined)) &&
    isId((info.company_id = json.company_id ?? undefined)) &&
    isId((info.location_id = json.location_id ?? undefined));
  return isValid ? (Object.freeze(info) as CclInfo) : undefined;
}

/** Returns whether a parsed object inherits from anything but `Object.prototype`, such as an array does. */
function inheritsMore(json: object): boolean {
  return Object.getPrototypeOf(json) !== Object.prototype;
}

/** Returns whether JSON may inherit a field of the record. */
function inheritsField(json: object): boolean {
  if (inheritsMore(json)) return true;
  const text =
    NOTHING.username ??
    NOTHING.first_name ??
    NOTHING.last_name ??
    NOTHING.email ??
    NOTHING.role ??
    NOTHING.sub_role;
  const label = NOTHING.preffered_language ?? NOTHING.client_name ?? NOTHING.display_label;
  const flag =
    NOTHING.help_checkbox ?? NOTHING.benestream_enabled ?? NOTHING.ats_enabled ?? NOTHING.obs_enabled;
  const info = NOTHING.ccl_info ?? NOTHING.client_id ?? NOTHING.company_id ?? NOTHING.location_id;
  return (text ?? label ?? flag ?? info) !== undefined;
}

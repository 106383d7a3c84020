import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { LocalUser, SessionAuthTypes } from '../contract/session-auth-types.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { ADMISSION, type GuardedRequest } from './guarded-request.js';
import { transportOf } from './transport.js';
import { nameParameter } from './access-metadata.js';

/**
 * The record that handlers receive: `UserRecord`, or the class that the application declares in
 * `SessionAuthTypes`.
 */
export type CurrentUserRecord =
  SessionAuthTypes extends Readonly<Record<'user', infer User>>
    ? [User] extends [UserRecord]
      ? User
      : UserRecord & Readonly<Record<'the user of SessionAuthTypes must extend UserRecord', never>>
    : UserRecord;

/**
 * What `@CurrentUser()` injects: the application's own user, if it is declared as `localUser` in
 * `SessionAuthTypes`, and otherwise the record.
 */
export type CurrentRequestUser =
  SessionAuthTypes extends Readonly<Record<'localUser', infer Local>> ? Local : CurrentUserRecord;

/**
 * Loads the application's own user of a record, for the option `loadUser`: an injectable class. If it is a
 * provider of any module, that one is used. Otherwise Nest creates it, with the dependencies that are visible
 * to `SessionAuthModule`.
 */
export interface UserLoader<User extends UserRecord = CurrentUserRecord, Local = LocalUser> {
  /**
   * Returns the user, or a promise of it. Without one, the call is denied: 403. A boolean or an empty value is
   * no user, and is logged. An `HttpException` that it
   * throws is the answer; with any other error, or after `timeoutMs`, the answer is 503.
   */
  load(
    record: User,
    context: ExecutionContext,
  ): Local | null | undefined | PromiseLike<Local | null | undefined>;
}

/** {@link UserLoader} as a function. */
export type LoadUser<User extends UserRecord = CurrentUserRecord, Local = LocalUser> = UserLoader<
  User,
  Local
>['load'];

type Pipe = Type<PipeTransform> | PipeTransform;
/**
 * The names of the fields of each record. Not an alias of `keyof`, so that the compiler prints the names in
 * its error.
 */
interface Known {
  readonly field: NamesOf<CurrentRequestUser>;
}

type UserDecorator = ParameterDecoratorFor<'the user', CurrentRequestUser>;

type DecoratorOf<First, Pipes extends readonly Pipe[]> = [First] extends [Known['field']]
  ? Pipes extends readonly []
    ? ParameterDecoratorFor<First, FieldOf<CurrentRequestUser, First>>
    : ParameterDecorator
  : [First] extends [Pipe]
    ? UserDecorator
    : ParameterDecorator;

/**
 * TypeScript writes `Function` for a class that is imported as a type: no value is one, and a `ValidationPipe`
 * would refuse every field of it.
 */
function reading(
  decorator: string,
  read: (request: GuardedRequest, field?: string) => unknown,
): (...fieldAndPipes: unknown[]) => (target: object, key: unknown, index: number) => void {
  const create = createParamDecorator(
    nameParameter(decorator, (field: string | undefined, context: ExecutionContext) => {
      const transport = transportOf(context);
      return read(transport?.requestOf(context) ?? transport?.inherited?.(context) ?? {}, field);
    }),
  ) as (...fieldAndPipes: unknown[]) => ParameterDecorator;
  return (...fieldAndPipes) =>
    (target, name, index) => {
      const key = (name ?? '') as string | symbol;
      const types = Reflect.getOwnMetadata('design:paramtypes', target, key) as unknown[] | undefined;
      if (types?.[index] === Function) types[index] = Object;
      create(...fieldAndPipes)(target, key, index);
    };
}

const readUser = reading('@CurrentUser()', ({ user }, field) =>
  field === undefined ? user : (user as Readonly<Record<string, unknown>> | undefined)?.[field],
);

/**
 * Injects the user: the record, or what `loadUser` has loaded; `undefined` if the rule admitted the call
 * without a session.
 *
 * @example
 * ```ts
 * class Openings { @Get() @Roles('recruiter') list(@CurrentUser() { username }: UserRecord) { return [username]; } }
 * ```
 */
export function CurrentUser(): UserDecorator;
/**
 * Injects one field of the user's record, typed by its name, or the whole record, transformed by pipes. A
 * field of {@link UserRecord} may be absent: the type of the parameter must include `undefined`, as in
 * `email: string | undefined` and `email = ''`. The type of a parameter with pipes is not compared with that
 * of the pipes.
 */
export function CurrentUser<First extends Known['field'] | Pipe, Pipes extends readonly Pipe[]>(
  fieldOrPipe: First,
  ...pipes: Pipes
): DecoratorOf<First, Pipes>;
export function CurrentUser(...fieldAndPipes: (Known['field'] | Pipe)[]): ParameterDecorator {
  return readUser(...fieldAndPipes);
}

/**
 * Injects the record of the session service, also if `loadUser` or a subclass of the guard has attached
 * another user; `undefined` if the rule admitted the call without a session.
 */
export const SessionRecord: () => ParameterDecoratorFor<'the record', CurrentUserRecord> = reading(
  '@SessionRecord()',
  (request) => request[ADMISSION]?.user,
);

/**
 * Injects the token of the session, as presented; `undefined` if the rule admitted the call without a
 * session.
 */
export const AuthToken: () => ParameterDecoratorFor<'the token', string> = reading(
  '@AuthToken()',
  (request) => request[ADMISSION]?.session?.token,
);

/**
 * Injects the `X-AUTH-IV` that the caller presented with the token (section 5.6); `undefined` if there was
 * none, with `forwardAuthIv: false`, and if the rule admitted the call without a session.
 */
export const AuthIv: () => ParameterDecoratorFor<'the X-AUTH-IV', string | undefined> = reading(
  '@AuthIv()',
  (request) => request[ADMISSION]?.session?.authIv,
);

/**
 * Injects the session that the caller presented, token and `X-AUTH-IV`, for `SessionAuthService`:
 * `sessions.signOut(session)`. `undefined` if the rule admitted the call without a session. Both are readable
 * but not enumerable, so that `return session` does not send them.
 */
export const CurrentSession: () => ParameterDecoratorFor<'the session', PresentedSession> = reading(
  '@CurrentSession()',
  (request) => {
    const session = request[ADMISSION]?.session;
    return session && new HiddenSession(session);
  },
);

/**
 * The session that a caller presented: what `@CurrentSession()` injects, and `SessionAuthService` accepts in
 * place of a token.
 */
export interface PresentedSession {
  /** The presented token. */
  readonly token: string;
  /**
   * The `X-AUTH-IV` that was presented with the token, which is part of the session (section 5.6). @default
   * none
   */
  readonly authIv?: string | undefined;
}

/** Hides token and IV from serialization and inspection. */
export class HiddenSession implements PresentedSession {
  readonly #session: SessionIdentity;

  constructor(session: SessionIdentity) {
    this.#session = session;
  }

  get token(): string {
    return this.#session.token;
  }

  get authIv(): string | undefined {
    return this.#session.authIv;
  }
}

type Handler = (...parameters: never[]) => unknown;

type ParameterOf<Target, Key, Index extends number> = Key extends keyof Target
  ? Target[Key] extends Handler
    ? Parameters<Target[Key]>[Index]
    : unknown
  : unknown;

/** The type of the parameter may be wider, or a subclass that the application uses. */
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

declare const parameter: unique symbol;

/**
 * Appears in the error message of the compiler: a parameter with this decorator must accept `Type`. Not the
 * type of any value. Exported for declaration files of decorators that call one of these.
 */
export interface ParameterMustAccept<Name extends string, Type> {
  /** No value has it. */
  readonly [parameter]: readonly [Name, Type];
}

/**
 * A parameter decorator that compiles only on a parameter whose type can hold `Value`, and `undefined` if
 * that value includes it.
 */
export type ParameterDecoratorFor<Name extends string, Value> = <
  Target extends object,
  Key extends string | symbol | undefined,
  Index extends number,
>(
  target: Target,
  key: Fits<Value, ParameterOf<Target, Key, Index>> extends true ? Key : ParameterMustAccept<Name, Value>,
  index: Index,
) => void;

type NamesOf<User> = User extends unknown ? keyof User & string : never;

type FieldOf<User, Name> = User extends unknown ? (Name extends keyof User ? User[Name] : never) : never;

export type FlagsOf<User> = User extends unknown
  ? { [Field in keyof User]-?: NonNullable<User[Field]> extends boolean ? Field : never }[keyof User]
  : never;

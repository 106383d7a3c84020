import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { SessionAuthTypes } from '../contract/session-auth-types.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { sessionOf, userOf, type GuardedRequest } from './guarded-request.js';
import { HiddenSession, type PresentedSession } from './presented-session.js';
import { transportOf } from './transports.js';
import { nameParameter } from './access-metadata.js';
import type { FieldDecoratorFor, ParameterDecoratorFor } from './parameter-types.js';
import type { NamesOf } from './parameter-types.js';

/**
 * The record that handlers receive: `UserRecord`, or the class that the application declares in
 * `SessionAuthTypes`.
 */
export type CurrentUserRecord =
  SessionAuthTypes extends Readonly<Record<'user', infer User extends UserRecord>> ? User : UserRecord;

/**
 * The record of any registration: also those that the application declares as `authorities` in
 * `SessionAuthTypes`.
 */
export type AnyUserRecord =
  SessionAuthTypes extends Readonly<
    Record<'authorities', infer Records extends Readonly<Record<string, UserRecord>>>
  >
    ? CurrentUserRecord | Records[keyof Records]
    : CurrentUserRecord;

type Pipe = Type<PipeTransform> | PipeTransform;
/**
 * The names of the fields of each record. Not an alias of `keyof`, so that the compiler prints the names in
 * its error.
 */
interface Known {
  readonly field: NamesOf<AnyUserRecord>;
}

type DecoratorOf<First, Pipes extends readonly Pipe[]> = [First] extends [Known['field']]
  ? Pipes extends readonly []
    ? FieldDecoratorFor<AnyUserRecord, First>
    : ParameterDecorator
  : [First] extends [Pipe]
    ? ParameterDecoratorFor<'the user', CurrentUserRecord, AnyUserRecord>
    : ParameterDecorator;

function requestOf(context: ExecutionContext): GuardedRequest {
  const transport = transportOf(context);
  return transport?.requestOf(context) ?? transport?.inherited?.(context) ?? {};
}

const readUser = createParamDecorator(
  nameParameter('@CurrentUser()', (field: string | undefined, context: ExecutionContext): unknown => {
    const user = userOf(requestOf(context)) as Readonly<Record<string, unknown>> | undefined;
    return field === undefined ? user : user?.[field];
  }),
);

/** Injects the user's record; `undefined` if the rule admitted the call without a session. */
export function CurrentUser(): ParameterDecoratorFor<'the user', CurrentUserRecord, AnyUserRecord>;
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
  return (readUser as (...fieldAndPipes: unknown[]) => ParameterDecorator)(...fieldAndPipes);
}

/** Returns a parameter decorator that reads the session of an admitted call. */
function readingSession(
  decorator: string,
  read: (session: SessionIdentity) => unknown,
): () => ParameterDecorator {
  const factory = (_: unknown, context: ExecutionContext): unknown => {
    const session = sessionOf(requestOf(context));
    return session && read(session);
  };
  return createParamDecorator(nameParameter(decorator, factory));
}

const readToken = readingSession('@AuthToken()', ({ token }) => token);

/**
 * Injects the token of the session, as presented; `undefined` if the rule admitted the call without a
 * session.
 */
export function AuthToken(): ParameterDecoratorFor<'the token', string>;
export function AuthToken(): ParameterDecorator {
  return readToken();
}

const readAuthIv = readingSession('@AuthIv()', ({ authIv }) => authIv);

/**
 * Injects the `X-AUTH-IV` that the caller presented with the token (section 5.6); `undefined` if there was
 * none, with `forwardAuthIv: false`, and if the rule admitted the call without a session.
 */
export function AuthIv(): ParameterDecoratorFor<'the X-AUTH-IV', string | undefined>;
export function AuthIv(): ParameterDecorator {
  return readAuthIv();
}

const readSession = readingSession('@CurrentSession()', (session) => new HiddenSession(session));

/**
 * Injects the session that the caller presented, token and `X-AUTH-IV`, for `SessionAuthService`:
 * `sessions.signOut(session)`. `undefined` if the rule admitted the call without a session. Both are readable
 * but not enumerable, so that `return session` does not send them.
 */
export function CurrentSession(): ParameterDecoratorFor<'the session', PresentedSession>;
export function CurrentSession(): ParameterDecorator {
  return readSession();
}

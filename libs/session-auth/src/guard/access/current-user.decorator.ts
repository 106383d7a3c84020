import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { SessionAuthTypes } from '../../contract/session-auth-types.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { tokenOf, userOf, type GuardedRequest } from '../guarded-request.js';
import { transportOf } from '../transports.js';

/** The record that handlers receive: `UserRecord`, or the class that the application declares in `SessionAuthTypes`. */
export type CurrentUserRecord = SessionAuthTypes extends Readonly<Record<'user', infer User extends UserRecord>> ? User : UserRecord;

type Pipe = Type<PipeTransform> | PipeTransform;
type Handler = (...parameters: never[]) => unknown;

type ParameterOf<Target, Key, Index extends number> = Key extends keyof Target
  ? Target[Key] extends Handler
    ? Parameters<Target[Key]>[Index]
    : unknown
  : unknown;

/** Whether a parameter can receive a value: its type may be wider, or a subclass that the application uses. */
type Fits<Value, Parameter> = [Parameter] extends [Value] ? true : [NonNullable<Value>] extends [Parameter] ? true : false;

/** A parameter decorator that compiles only on a parameter whose type can hold `Value`. */
type ParameterDecoratorFor<Value> = <Target extends object, Key extends string | symbol | undefined, Index extends number>(
  target: Target,
  key: Fits<Value, ParameterOf<Target, Key, Index>> extends true ? Key : 'the type of this parameter cannot hold that value',
  index: Index,
) => void;

function requestOf(context: ExecutionContext): GuardedRequest {
  return transportOf(context)?.requestOf(context) ?? {};
}

const readUser = createParamDecorator((field: keyof CurrentUserRecord | undefined, context: ExecutionContext): unknown => {
  const user = userOf(requestOf(context)) as Readonly<Record<string, unknown>> | undefined;
  return field === undefined ? user : user?.[field];
});

/** Injects the user's record, or one of its fields; `undefined` if the rule admitted the call without a session. */
export function CurrentUser(...pipes: Pipe[]): ParameterDecoratorFor<CurrentUserRecord>;
/** Injects one field of the user's record, typed by its name. Any field may be absent. */
export function CurrentUser<Field extends keyof CurrentUserRecord>(field: Field): ParameterDecoratorFor<CurrentUserRecord[Field]>;
/** Injects one field of the user's record, transformed by pipes. */
export function CurrentUser(field: keyof CurrentUserRecord, ...pipes: [Pipe, ...Pipe[]]): ParameterDecorator;
export function CurrentUser(...fieldAndPipes: (keyof CurrentUserRecord | Pipe)[]): ParameterDecorator {
  return (readUser as (...fieldAndPipes: unknown[]) => ParameterDecorator)(...fieldAndPipes);
}

const readToken = createParamDecorator((_: unknown, context: ExecutionContext) => tokenOf(requestOf(context)));

/** Injects the token of the session, as presented; `undefined` if the rule admitted the call without a session. */
export const AuthToken = (): ParameterDecoratorFor<string | undefined> => readToken();

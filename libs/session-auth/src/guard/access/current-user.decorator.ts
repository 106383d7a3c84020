import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { SessionAuthTypes } from '../../contract/session-auth-types.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import { tokenOf, userOf, type GuardedRequest } from '../guarded-request.js';
import { transportOf } from '../transports.js';

/** The record that handlers receive: `UserRecord`, or the class that the application names in `SessionAuthTypes`. */
export type CurrentUserRecord = SessionAuthTypes extends Readonly<Record<'user', infer User extends UserRecord>> ? User : UserRecord;

type Pipe = Type<PipeTransform> | PipeTransform;
type Handler = (...parameters: never[]) => unknown;

type ParameterOf<Target, Key, Index extends number> = Key extends keyof Target
  ? Target[Key] extends Handler
    ? Parameters<Target[Key]>[Index]
    : unknown
  : unknown;

/** Whether one type can stand where the other is: the parameter may be wider, or a subclass that the application knows to be there. */
type Fits<Value, Parameter> = [Parameter] extends [Value] ? true : [NonNullable<Value>] extends [Parameter] ? true : false;

/** A parameter decorator that compiles only on a parameter whose type can hold `Value`. */
export type ParameterDecoratorFor<Value> = <Target extends object, Key extends string | symbol | undefined, Index extends number>(
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

/** The user's record, or one of its fields; `undefined` where the rule let someone in without a session. */
export function CurrentUser(...pipes: Pipe[]): ParameterDecoratorFor<CurrentUserRecord>;
/** One field of the user's record, typed by its name: every field may be absent. */
export function CurrentUser<Field extends keyof CurrentUserRecord>(field: Field): ParameterDecoratorFor<CurrentUserRecord[Field]>;
/** One field of the user's record, through pipes. */
export function CurrentUser(field: keyof CurrentUserRecord, ...pipes: [Pipe, ...Pipe[]]): ParameterDecorator;
export function CurrentUser(...fieldAndPipes: (keyof CurrentUserRecord | Pipe)[]): ParameterDecorator {
  return (readUser as (...fieldAndPipes: unknown[]) => ParameterDecorator)(...fieldAndPipes);
}

const readToken = createParamDecorator((_: unknown, context: ExecutionContext) => tokenOf(requestOf(context)));

/** The token of the request's session, as it was presented; `undefined` where the rule let someone in without one. */
export const AuthToken = (): ParameterDecoratorFor<string | undefined> => readToken();

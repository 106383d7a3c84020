/** Type-level tests of the public surface: this file compiles, or the types are wrong. */
import { z } from 'zod';
import { Catch, DefaultValuePipe, ParseIntPipe, type UnauthorizedException } from '@nestjs/common';
import {
  AuthIv,
  AuthToken,
  Authorize,
  CurrentSession,
  CurrentUser,
  Roles,
  SessionAuthModule,
  SessionAuthService,
  SubRoles,
  UserRecord,
  type CclInfo,
  type CurrentUserRecord,
  type PresentedSession,
  type SessionAuthOptions,
  type SessionAuthOptionsFactory,
  type SignInResult,
} from 'nestjs-session-auth';
import {
  isSessionAuthError,
  SessionAuthError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from 'nestjs-session-auth/errors';
import { aUserRecord, startSessionService, TestSessions } from 'nestjs-session-auth/testing';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function prove<Claim extends true>(): Claim;

class MyRecord extends UserRecord {
  readonly department?: string | undefined = undefined;
}

// The errors are exceptions of Nest, and instanceof and isSessionAuthError narrow to their common type.
prove<SessionRejectedError extends UnauthorizedException & SessionAuthError ? true : false>();
prove<Equal<SessionRejectedError['code'], 'SESSION_REQUIRED' | 'SESSION_REJECTED'>>();
Catch(SessionAuthError, SessionServiceUnavailableError);
const codesOf = (error: unknown): unknown[] => [
  isSessionAuthError(error) && error.code,
  error instanceof SessionAuthError && error.statusCode,
  error instanceof SessionServiceUnavailableError && [error.reason, error.retryAfterSeconds.toFixed()],
];
codesOf(undefined);

// Every field of the record may be absent, and the ids in ccl_info are numbers.
prove<Equal<CurrentUserRecord['ccl_info'], CclInfo | undefined>>();
prove<Equal<CurrentUserRecord['role'], string | undefined>>();
prove<Equal<CclInfo['client_id'], number | undefined>>();
prove<Equal<CurrentUserRecord, UserRecord>>();

// A record class of the application flows to the service and its results.
const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
SessionAuthModule.forRoot({ ...required, userRecord: MyRecord });
prove<Equal<Awaited<ReturnType<SessionAuthService<MyRecord>['verify']>>, MyRecord>>();
prove<Equal<Awaited<ReturnType<SessionAuthService<MyRecord>['signIn']>>, SignInResult<MyRecord>>>();
SessionAuthModule.forRootAsync({ useFactory: () => ({ ...required, userRecord: MyRecord }) });

// The type of the records follows from a schema too.
const EmployeeSchema = z.object({ username: z.string(), shift: z.enum(['day', 'night']) });
const employees = { ...required, userRecord: EmployeeSchema };
SessionAuthModule.forRoot({ ...employees, identityFields: ['username', 'shift'] });
// @ts-expect-error no field of the schema
SessionAuthModule.forRoot({ ...employees, identityFields: ['role'] });

// Options are typed by the record, and only by records.
const options: SessionAuthOptions<MyRecord> = {
  baseUrl: new URL('https://sessions.example.com'),
  apiKey: () => 'key',
  identityFields: ['department'],
};
class OptionsFactory implements SessionAuthOptionsFactory {
  createSessionAuthOptions(): SessionAuthOptions {
    return { baseUrl: 'https://sessions.example.com', apiKey: () => Promise.resolve('key') };
  }
}
SessionAuthModule.forRootAsync({ useClass: OptionsFactory, isGlobal: false, protectAllRoutes: true });
SessionAuthModule.forRoot({ ...options, isGlobal: false });
// @ts-expect-error a base URL is required
SessionAuthModule.forRoot({ apiKey: 'key' });
class Foreign {
  readonly username = 1;
}
// @ts-expect-error no such option
SessionAuthModule.forRoot({ ...required, timeoutMS: 1 });
// @ts-expect-error a record class extends UserRecord
SessionAuthModule.forRoot({ ...required, userRecord: Foreign });
// @ts-expect-error the interface has a text as username
SessionAuthModule.forRoot({ ...required, userRecord: z.object({ username: z.number() }) });
// @ts-expect-error no such field to identify a user by
SessionAuthModule.forRoot({ ...required, identityFields: ['nickname'] });

export class TypedController {
  @Authorize((user) => user.ats_enabled === true)
  @Authorize((user: MyRecord) => Promise.resolve(user.department === 'hr'))
  right(
    @CurrentUser() user: UserRecord,
    @CurrentUser() mine: MyRecord,
    @CurrentUser('ccl_info') ccl: CclInfo | undefined,
    @CurrentUser(ParseIntPipe) parsed: UserRecord,
    @CurrentUser('role', ParseIntPipe, new ParseIntPipe()) role: number,
    @CurrentUser('email', new DefaultValuePipe('none')) address: string,
    @CurrentSession() session: PresentedSession,
    @AuthToken() token: string,
    @AuthToken() maybe: string | undefined,
    @CurrentUser('email') email = 'none',
    @AuthIv() iv?: string,
  ): unknown[] {
    return [user, mine, ccl, parsed, role, address, session, token, maybe, email, iv];
  }

  wrong(
    // @ts-expect-error ccl_info is no string
    @CurrentUser('ccl_info') ccl: string,
    // @ts-expect-error the record has no such field
    @CurrentUser('password') password: string,
    // @ts-expect-error the email may be absent
    @CurrentUser('email') email: string,
    // @ts-expect-error a caller need not present an IV
    @AuthIv() iv: string,
    // @ts-expect-error a session is more than its token
    @CurrentSession() session: string,
    // @ts-expect-error a token is no number
    @AuthToken() token: number,
  ): unknown[] {
    return [ccl, password, email, iv, session, token];
  }
}

// The compiler's message for a parameter of the wrong type names the field and the type that the parameter
// must accept.
interface Mistyped {
  show(count: number): number;
}
type Printed<Expected> = Expected extends object ? Expected[keyof Expected] : never;
const email = CurrentUser('email');
type PrintedOfEmail = Printed<Parameters<typeof email<Mistyped, 'show', 0>>[1]>;
prove<Equal<PrintedOfEmail, readonly ['email', string | undefined]>>();
const user = CurrentUser();
prove<Equal<Printed<Parameters<typeof user<Mistyped, 'show', 0>>[1]>, readonly ['the user', UserRecord]>>();
const token = AuthToken();
prove<Equal<Printed<Parameters<typeof token<Mistyped, 'show', 0>>[1]>, readonly ['the token', string]>>();

// @ts-expect-error a cache has a lifetime
SessionAuthModule.forRoot({ ...required, cache: {} });

// @ts-expect-error at least one role
Roles();
// @ts-expect-error at least one sub-role
SubRoles();

// The test tools take the fields of the record class, with their types.
const sessions = new TestSessions();
prove<Equal<ReturnType<typeof sessions.signInAs>['x-auth-token'], string>>();
sessions.signInAs({ role: 'hiring_manager', email: null, ccl_info: { client_id: 1 } });
// @ts-expect-error the record has no such field
sessions.signInAs({ roles: 'hiring_manager' });
// @ts-expect-error a role is no number
sessions.signInAs({ role: 7 });
// @ts-expect-error ccl_info has no such field
sessions.signInAs({ ccl_info: { clientId: 1 } });
// @ts-expect-error the record has no such field
sessions.addUser({ username: 'ann', password: 'secret' }, { roles: 'hiring_manager' });
// @ts-expect-error the record has no such field
aUserRecord({ roles: 'hiring_manager' });
new TestSessions<MyRecord>().signInAs({ department: 'payroll' });
// @ts-expect-error the record class has no such field
new TestSessions<MyRecord>().signInAs({ departement: 'payroll' });
export async function scripted(): Promise<void> {
  const service = await startSessionService();
  prove<Equal<ReturnType<typeof service.signInAs>, string>>();
  service.signInAs({ username: 'ann' }, 'token');
  service.signInAs(aUserRecord({ role: 'new_hire' }));
  service.signInAs({ username: 5 } as object);
  // @ts-expect-error the record has no such field
  service.signInAs({ roles: 'hiring_manager' });
  (await startSessionService<MyRecord>()).signInAs({ department: 'payroll' });
}

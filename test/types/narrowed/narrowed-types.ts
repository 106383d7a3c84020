/** What an application that narrows the open types gets. A program of its own, because an augmentation holds everywhere. */
import 'reflect-metadata';
import { Roles, SubRoles, UserRecord, type CurrentUserRecord, type SessionAuthService } from 'nestjs-session-auth';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function prove<Claim extends true>(): Claim;

class MyRecord extends UserRecord {
  readonly department?: string | undefined = undefined;
}

declare module 'nestjs-session-auth' {
  interface SessionAuthTypes {
    role: 'hiring_manager' | 'new_hire';
    sub_role: 'approver' | 'recruiter';
    user: MyRecord;
  }
}

prove<Equal<UserRecord['role'], 'hiring_manager' | 'new_hire' | undefined>>();
prove<Equal<UserRecord['sub_role'], 'approver' | 'recruiter' | undefined>>();
prove<Equal<CurrentUserRecord, MyRecord>>();
prove<Equal<Awaited<ReturnType<SessionAuthService['verify']>>, MyRecord>>();

Roles('hiring_manager', 'new_hire');
SubRoles('approver');
// @ts-expect-error no such role
Roles('hiring-manager');
// @ts-expect-error no such sub-role
SubRoles('Approver');

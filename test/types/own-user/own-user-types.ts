/**
 * Type-level tests of an application with users of its own. A separate program, because an augmentation
 * applies everywhere.
 */
import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import {
  Authorize,
  CurrentUser,
  SessionAuthModule,
  SessionRecord,
  UserRecord,
  type AuthorizationPolicy,
  type LocalUser,
  type UserLoader,
} from 'nestjs-session-auth';
import type { currentUserOf } from 'nestjs-session-auth/diagnostics';
import { TestSessions } from 'nestjs-session-auth/testing';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function prove<Claim extends true>(): Claim;

class Staff {
  readonly id: number = 1;
  readonly isActive: boolean = true;
}

declare module 'nestjs-session-auth' {
  interface SessionAuthTypes {
    localUser: Staff;
  }
}

prove<Equal<LocalUser, Staff>>();
prove<Equal<ReturnType<typeof currentUserOf>, Staff | undefined>>();

const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
class StaffLoader implements UserLoader {
  load({ username }: UserRecord, context: ExecutionContext): Promise<Staff | null> {
    return Promise.resolve(username === context.getClass().name ? new Staff() : null);
  }
}
class RecordLoader implements UserLoader<UserRecord, UserRecord> {
  load(record: UserRecord): UserRecord {
    return record;
  }
}
SessionAuthModule.forRoot({ ...required, loadUser: StaffLoader });
SessionAuthModule.forRoot({
  ...required,
  loadUser: ({ email }) => (email === undefined ? undefined : new Staff()),
});
SessionAuthModule.forRootAsync({ useFactory: () => ({ ...required, loadUser: () => new Staff() }) });
// @ts-expect-error without loadUser, handlers would get the record
SessionAuthModule.forRoot(required);
// @ts-expect-error another user
SessionAuthModule.forRoot({ ...required, loadUser: () => ({ id: '1' }) });
// @ts-expect-error another user
SessionAuthModule.forRoot({ ...required, loadUser: RecordLoader });

class OwnsOpening implements AuthorizationPolicy {
  allows(record: UserRecord, _context: ExecutionContext, staff: Staff): boolean {
    return record.username !== undefined && staff.isActive;
  }
}

export class Openings {
  @Authorize((record, _context, staff) => staff.isActive && record.ats_enabled === true)
  @Authorize(OwnsOpening)
  right(
    @CurrentUser() staff: Staff,
    @SessionRecord() record: UserRecord,
    @CurrentUser('id') id: number,
  ): unknown[] {
    return [staff, record, id];
  }

  wrong(
    // @ts-expect-error the user is no longer the record
    @CurrentUser() user: UserRecord,
    // @ts-expect-error a field of the record, and not of the user
    @CurrentUser('username') username: string | undefined,
    // @ts-expect-error the record is not the user
    @SessionRecord() staff: Staff,
  ): unknown[] {
    return [user, username, staff];
  }
}

const sessions = new TestSessions();
sessions.signInAs({ role: 'hiring_manager' }, new Staff());
// @ts-expect-error another user
sessions.signInAs({ role: 'hiring_manager' }, { id: '1' });

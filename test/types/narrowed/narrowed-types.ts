/**
 * Type-level tests of an application that narrows the open types. A separate program, because an augmentation
 * applies everywhere.
 */
import 'reflect-metadata';
import {
  Authorize,
  CurrentUser,
  RequireFlags,
  Roles,
  SessionAuthModule,
  SubRoles,
  UserRecord,
  type AuthorizationPolicy,
  type CurrentUserRecord,
  type SessionAuthOptions,
  type SessionAuthOptionsFactory,
  type SessionAuthService,
} from 'nestjs-session-auth';
import type { currentUserOf } from 'nestjs-session-auth/diagnostics';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function prove<Claim extends true>(): Claim;

class MyRecord extends UserRecord {
  readonly department?: string | undefined = undefined;
}

class PartnerRecord extends UserRecord {
  readonly company?: string | undefined = undefined;
  readonly department?: number | undefined = undefined;
  readonly level: number = 1;
  readonly is_gold?: boolean | undefined = undefined;
}

declare module 'nestjs-session-auth' {
  interface SessionAuthTypes {
    role: 'hiring_manager' | 'new_hire';
    sub_role: 'approver' | 'recruiter';
    user: MyRecord | PartnerRecord;
  }
}

prove<Equal<UserRecord['role'], 'hiring_manager' | 'new_hire' | undefined>>();
prove<Equal<UserRecord['sub_role'], 'approver' | 'recruiter' | undefined>>();
prove<Equal<CurrentUserRecord, MyRecord | PartnerRecord>>();
prove<Equal<ReturnType<typeof currentUserOf>, MyRecord | PartnerRecord | undefined>>();
prove<Equal<Awaited<ReturnType<SessionAuthService<MyRecord>['verify']>>, MyRecord>>();

Roles('hiring_manager', 'new_hire');
SubRoles('approver');
// @ts-expect-error no such role
Roles('hiring-manager');
// @ts-expect-error no such sub-role
SubRoles('Approver');

// A declared `user` needs the class that creates it: without `userRecord`, its fields would be absent.
const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
SessionAuthModule.forRoot({ ...required, userRecord: MyRecord });
SessionAuthModule.forRootAsync({ useFactory: () => ({ ...required, userRecord: MyRecord }) });
// @ts-expect-error userRecord is missing
SessionAuthModule.forRoot(required);
// @ts-expect-error userRecord is missing
SessionAuthModule.forRootAsync({ useFactory: () => required });
// @ts-expect-error userRecord is missing
const incomplete: SessionAuthOptions = required;
class OptionsFactory implements SessionAuthOptionsFactory {
  // @ts-expect-error userRecord is missing
  createSessionAuthOptions(): typeof required {
    return incomplete as typeof required;
  }
}
SessionAuthModule.forRootAsync({ useClass: OptionsFactory as never });

// Two session services with a record class each: `user` is a union of both.
SessionAuthModule.forRoot({ ...required, isGlobal: false, userRecord: PartnerRecord });
class SupplierRecord extends UserRecord {
  readonly department: boolean = true;
}
// @ts-expect-error no record of SessionAuthTypes
SessionAuthModule.forRoot({ ...required, userRecord: SupplierRecord });

// @ts-expect-error no flag of any record
RequireFlags('company');
class GoldPartners implements AuthorizationPolicy {
  allows(user: PartnerRecord): boolean {
    return user.level > 1;
  }
}
Authorize(GoldPartners);

class PartnersController {
  @Authorize((user: PartnerRecord) => user.level > 1)
  company(@CurrentUser() user: PartnerRecord): string | undefined {
    return user.company;
  }

  @RequireFlags('ats_enabled', 'is_gold')
  fields(
    @CurrentUser('company') company: string | undefined,
    @CurrentUser('level') level: number,
    @CurrentUser('department') ofPartner: number | undefined,
    @CurrentUser('department') ofStaff: string | undefined,
    @CurrentUser('email') email: string | undefined,
  ): unknown[] {
    return [company, level, ofPartner, ofStaff, email];
  }

  wrongFields(
    // @ts-expect-error the company may be absent
    @CurrentUser('company') company: string,
    // @ts-expect-error the department may be absent, in both records
    @CurrentUser('department') department: string,
    // @ts-expect-error the department of neither record
    @CurrentUser('department') wrong: boolean | undefined,
    // @ts-expect-error no record has this field
    @CurrentUser('compny') misspelt: string | undefined,
  ): unknown[] {
    return [company, department, wrong, misspelt];
  }

  own(@CurrentUser() user: MyRecord): string | undefined {
    return user.department;
  }

  // @ts-expect-error no service has this record
  other(@CurrentUser() user: { readonly department: number }): number {
    return user.department;
  }
}

/**
 * Type-level tests of an application that narrows the open types. A separate program, because an augmentation
 * applies everywhere.
 */
import 'reflect-metadata';
import {
  Authorize,
  CurrentUser,
  InjectSessionAuth,
  RequireFlags,
  Roles,
  SessionAuthModule,
  SessionAuthority,
  SubRoles,
  UserRecord,
  type AuthorizationPolicy,
  type CurrentUserRecord,
  type ServiceOf,
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
    user: MyRecord;
    authorities: { partners: PartnerRecord };
  }
}

prove<Equal<UserRecord['role'], 'hiring_manager' | 'new_hire' | undefined>>();
prove<Equal<UserRecord['sub_role'], 'approver' | 'recruiter' | undefined>>();
prove<Equal<CurrentUserRecord, MyRecord>>();
prove<Equal<ReturnType<typeof currentUserOf>, MyRecord | undefined>>();
prove<Equal<Awaited<ReturnType<SessionAuthService['verify']>>, MyRecord>>();

Roles('hiring_manager', 'new_hire');
SubRoles('approver');
// @ts-expect-error no such role
Roles('hiring-manager');
// @ts-expect-error no such sub-role
SubRoles('Approver');

// A declared `user` needs the class that creates it: without `userRecord`, its fields would be absent.
const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
const registration = SessionAuthModule.forRoot({ ...required, userRecord: MyRecord });
prove<Equal<ServiceOf<typeof registration>, SessionAuthService>>();
SessionAuthModule.forRootAsync({ useFactory: () => ({ ...required, userRecord: MyRecord }) });
const options: SessionAuthOptions = { ...required, userRecord: MyRecord };
SessionAuthModule.forRoot(options);
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

// A named authority may have a record class of its own, which its handlers receive; or none.
const partners = SessionAuthModule.forRoot({ ...required, name: 'partners', userRecord: PartnerRecord });
prove<Equal<ServiceOf<typeof partners>, SessionAuthService<PartnerRecord>>>();
const suppliers = SessionAuthModule.forRootAsync({ name: 'suppliers', useFactory: () => required });
prove<Equal<ServiceOf<typeof suppliers>, SessionAuthService<UserRecord>>>();
// @ts-expect-error the default authority has the record class of SessionAuthTypes
SessionAuthModule.forRoot({ ...required, userRecord: PartnerRecord });

// @ts-expect-error no flag of any record
RequireFlags('company');
class GoldPartners implements AuthorizationPolicy {
  allows(user: PartnerRecord): boolean {
    return user.level > 1;
  }
}
Authorize(GoldPartners);

class PartnersController {
  constructor(@InjectSessionAuth('partners') readonly partners: SessionAuthService<PartnerRecord>) {}

  @SessionAuthority('partners')
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

  // @ts-expect-error no authority has this record
  other(@CurrentUser() user: { readonly department: number }): number {
    return user.department;
  }
}
SessionAuthModule.forRoot({ ...required, userRecord: MyRecord, authority: () => PartnersController.name });

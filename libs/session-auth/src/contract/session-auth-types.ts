/**
 * Narrows the open types of the user record. Empty here; an application adds members by module augmentation:
 *
 * ```ts
 * declare module 'nestjs-session-auth' {
 *   interface SessionAuthTypes {
 *     role: 'hiring_manager' | 'new_hire';
 *     sub_role: 'approver' | 'recruiter';
 *   }
 * }
 * ```
 *
 * `role` and `sub_role` narrow the record and the decorators; `user` is the application's own record class,
 * which the option `userRecord` then requires. `authorities` has the record class of each authority with a
 * name, as in `{ partners: PartnerRecord }`, for the types of `@CurrentUser()`, `@Authorize()` and
 * `@RequireFlags()`. The interface documents no values of `role` and `sub_role` (section 2.4).
 */
export interface SessionAuthTypes {
  /** Reserved: an interface without members would accept anything. */
  readonly [unused]?: never;
}

declare const unused: unique symbol;

/** Name of a role: any string, unless {@link SessionAuthTypes} narrows it. */
export type RoleName =
  SessionAuthTypes extends Readonly<Record<'role', infer Role extends string>> ? Role : string;

/** Name of a sub-role: any string, unless {@link SessionAuthTypes} narrows it. */
export type SubRoleName =
  SessionAuthTypes extends Readonly<Record<'sub_role', infer SubRole extends string>> ? SubRole : string;

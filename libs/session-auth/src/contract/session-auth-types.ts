/**
 * Narrows the open types of the user record. Empty here; an application adds members by module augmentation.
 *
 * `role` and `sub_role` narrow the record and the decorators; `user` is the application's own record class,
 * which the option `userRecord` then requires; with several session services, a union of those of all.
 * `localUser` is the application's own user, which the option `loadUser` then must load,
 * and handlers receive in place of the record. The interface documents no values of `role` and `sub_role` (section 2.4).
 *
 * @example
 * ```ts
 * declare module 'nestjs-session-auth' {
 *   interface SessionAuthTypes {
 *     role: 'hiring_manager' | 'new_hire';
 *     sub_role: 'approver' | 'recruiter';
 *   }
 * }
 * ```
 */
export interface SessionAuthTypes {
  /** Reserved: an interface without members would accept anything. */
  readonly [unused]?: never;
}

declare const unused: unique symbol;

/** The user that the option `loadUser` loads: unknown, unless {@link SessionAuthTypes} declares `localUser`. */
export type LocalUser = SessionAuthTypes extends Readonly<Record<'localUser', infer Local>> ? Local : unknown;

/** Name of a role: any string, unless {@link SessionAuthTypes} narrows it. */
export type RoleName =
  SessionAuthTypes extends Readonly<Record<'role', infer Role extends string>> ? Role : string;

/** Name of a sub-role: any string, unless {@link SessionAuthTypes} narrows it. */
export type SubRoleName =
  SessionAuthTypes extends Readonly<Record<'sub_role', infer SubRole extends string>> ? SubRole : string;

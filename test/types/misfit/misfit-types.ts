/**
 * Type-level test of an application whose declared user is no user record. A separate program, because an
 * augmentation applies everywhere.
 */
import 'reflect-metadata';
import type { CurrentUserRecord } from 'nestjs-session-auth';

declare module 'nestjs-session-auth' {
  interface SessionAuthTypes {
    role: 'hiring_manager' | 'new_hire';
    user: { readonly username?: string; readonly role?: string };
  }
}

// The name of the property is what the compiler prints.
export const record = {} as CurrentUserRecord;
export const message: never = record['the user of SessionAuthTypes must extend UserRecord'];

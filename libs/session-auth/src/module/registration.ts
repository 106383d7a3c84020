import type { ValueProvider } from '@nestjs/common';

/** The reach of a registration of the module. */
export interface Registration {
  /** Whether it provides or applies the guard outside of the modules that import it. */
  readonly isForWholeApplication: boolean;
}

/** Injection token of a {@link Registration}. All copies of this package share it, so that they find each other's registrations. */
export const REGISTRATION = Symbol.for('nestjs-session-auth:registration');

/** Returns the provider that marks a module as a registration. */
export function registrationProvider(isForWholeApplication: boolean): ValueProvider<Registration> {
  return { provide: REGISTRATION, useValue: { isForWholeApplication } };
}

/**
 * The parts of the library that are tested by default, and the share of their mutants, in percent, that the unit specs must kill. 95 is the aim. A
 * lower share is the last complete measurement: raise it with each part that reaches more.
 */
export const FOLDERS = {
  contract: 95,
  'guard/session': 86,
  'guard/access': 95,
  'guard/session-auth.guard.ts': 95,
  'guard/decisions.ts': 95,
  'guard/guarded-request.ts': 80,
  'guard/denial.ts': 82,
  'guard/transports.ts': 92,
};

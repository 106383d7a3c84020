/**
 * The status that we decided on for the refusals of rows of the contract, by the start of their ids. The
 * interface does not list their causes.
 */
const DECIDED: Readonly<Record<string, number>> = {
  'malformed.': 400,
  'media-type.': 400,
  'wrong-password.absent': 400,
  'wrong-password.empty': 400,
  'wrong-password.null': 400,
  'wrong-password.': 401,
  'credentials.': 401,
  'sign-out.': 401,
  'key.': 403,
  'token.': 401,
};

/** Returns the status that the reference service refuses the requests of a row with. */
export function decidedStatus(rowId: string): number {
  const [, status] = Object.entries(DECIDED).find(([start]) => rowId.startsWith(start)) ?? [];
  if (status === undefined) throw new Error(`No status was decided on for the refusals of ${rowId}.`);
  return status;
}

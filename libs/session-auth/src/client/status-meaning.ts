/** What a documented refusal of user_details means to the caller. */
export type StatusMeaning = 'unauthenticated' | 'forbidden' | 'unavailable';

/** The refusals that the interface lists (section 7), without saying what causes each. */
export type RefusalStatus = 400 | 401 | 403 | 404;

/** What each documented refusal means, where the application has not said otherwise. */
export type StatusMap = Readonly<Partial<Record<RefusalStatus, StatusMeaning>>>;

/** Our reading: 403 refuses the application, so that its users are not sent to sign in again and again. */
export const DEFAULT_STATUS_MEANINGS: Readonly<Record<RefusalStatus, StatusMeaning>> = {
  400: 'unauthenticated',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'unauthenticated',
};

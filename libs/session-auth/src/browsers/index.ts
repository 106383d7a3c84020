export { endedSessionCookie, sessionCookie } from './session-cookie.js';
export type { SameSite, SessionCookieOptions } from './cookie-options.js';
export { SameOriginGuard } from './same-origin.guard.js';
export type { CrossOriginOptions } from '../guard/cross-origin.js';

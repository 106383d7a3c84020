import './user-record-schema.js';

export { ApiSessionAuth } from './api-session-auth.js';
export { SessionAuthDenial } from './api-session-auth.js';
export { addSessionAuth, SESSION_SCHEME, type SessionScheme } from './api-session-auth.js';

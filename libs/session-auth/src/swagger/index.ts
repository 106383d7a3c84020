import './user-record-schema.js';

export { ApiSessionAuth } from './api-session-auth.js';
export { SessionAuthDenial } from './api-session-auth.js';
export { addSessionAuth, SESSION_SCHEME } from './api-session-auth.js';

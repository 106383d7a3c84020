import './user-record-schema.js';

export { ApiSessionAuth } from './api-session-auth.decorator.js';
export { SessionAuthDenial } from './denial-body.js';
export { addSessionAuth, SESSION_SCHEME } from './session-scheme.js';

export { ApiSessionAuth } from './api-session-auth.js';
export { SessionAuthDenial } from './api-session-auth.js';
export { addSessionAuth, SESSION_SCHEME, type SessionScheme } from './api-session-auth.js';
export { recordSchemaOf, type RecordSchema } from './user-record-schema.js';

export { sessionContext } from './context.plugin.js';
export { accessOf, currentUserOf } from './current-user-of.js';
export { SessionContext } from './session-context.js';
export { SessionRelay } from './session-relay.js';
export type { RelayTargets } from './relay-origins.js';

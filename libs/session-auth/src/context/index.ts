export { currentUserOf } from '../guard/context/current-user-of.js';
export { SessionContext } from '../guard/context/session-context.js';
export { SessionRelay } from '../module/relay/session-relay.js';
export type { RelayTargets } from '../module/relay/relay-origins.js';

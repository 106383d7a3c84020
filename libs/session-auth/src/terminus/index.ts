export { SessionAuthHealthIndicator, type SessionAuthHealthOptions } from './session-auth.health.js';

export { observeSessionAuth, type ObservationOptions } from './observe-session-auth.js';

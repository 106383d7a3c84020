export { type RedisSessionStoreOptions } from './options.js';
export { RedisSessionStore } from './redis-session-store.js';

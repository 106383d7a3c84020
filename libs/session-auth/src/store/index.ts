export { SessionStore, type StoreEntry, type StoreSubscriber } from '../contract/session-store.js';

export {
  SessionStore,
  type StoreEntry,
  type StoreEntryKind,
  type StoreLease,
  type StoreSubscriber,
} from '../contract/session-store.js';

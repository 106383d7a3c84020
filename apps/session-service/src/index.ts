export { DEMO_ACCOUNTS, DEMO_API_KEY, type DemoAccount } from './database/demo-accounts.js';
export { type ReferenceServiceOptions } from './reference-service-options.js';
export { type ReferenceService, startReferenceService } from './start-reference-service.js';
export { type CclInfo, type UserProfile, type UserRecord } from './users/user-record.js';

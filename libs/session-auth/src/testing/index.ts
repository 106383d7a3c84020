import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import { ScriptedSessionService, type SessionServiceOptions } from './scripted-session-service.js';

export * from '../audit/access-map.js';
export { aUserRecord, type UserRecordFields } from './a-user-record.js';
export { TestSessions, type OverridableModule } from './test-sessions.js';
export type { SessionControls, SessionHeaders } from './session-controls.js';
export { afterDelay, drop, hold, inTurn, json, reply, silence, type HeldScript } from './scripts.js';
export type { Operation, Script, SeenRequest } from './scripts.js';
export type { ScriptedSessionService, SessionServiceOptions } from './scripted-session-service.js';

/**
 * Starts a scriptable session service on a loopback port, by default a free one. `User` is your own record
 * class, if you have one.
 *
 * @example
 * ```ts
 * const service = await startSessionService();
 * const token = service.signInAs({ username: 'ann', role: 'hiring_manager' });
 * // ... start the application with `baseUrl: service.url`, and send it a request with this token: 200 ...
 * service.on('user_details', reply(500));
 * // ... send it again: 503 ...
 * await service.close();
 * ```
 */
export function startSessionService<User extends UserRecord = CurrentUserRecord>(
  options: SessionServiceOptions = {},
): Promise<ScriptedSessionService<User>> {
  return ScriptedSessionService.start<User>(options);
}

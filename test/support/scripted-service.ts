export { bytes, bytesThenSilence } from './byte-scripts.js';
export {
  afterDelay,
  drop,
  hold,
  inTurn,
  json,
  reply,
  silence,
  startSessionService as startScriptedService,
  type HeldScript,
  type Operation,
  type Script,
  type ScriptedSessionService as ScriptedService,
  type SeenRequest,
  type SessionServiceOptions,
} from 'nestjs-session-auth/testing';

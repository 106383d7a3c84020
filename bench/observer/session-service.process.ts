import {
  json,
  reply,
  startSessionService,
  type Script,
  type ScriptedSessionService,
} from 'nestjs-session-auth/testing';
import { serve } from './child-serve.js';
import { SeededRandom } from '../../test/support/seeded-random.js';
import { nowMs, type Span } from './clock.js';
import { StallLog } from './stall-log.js';

/** The time at which a token became valid for a user, or invalid. */
export interface ValidityChange {
  readonly atMs: number;
  readonly token: string;
  readonly user?: string | undefined;
}

/** The time at which the service decided that a token is valid, and its user. */
export interface Confirmation {
  readonly atMs: number;
  readonly token: string;
  readonly user: string;
}

/** Records of the service since the last call. */
export interface ServiceRecord {
  readonly changes: readonly ValidityChange[];
  readonly confirmations: readonly Confirmation[];
  readonly calls: number;
  readonly stalls: readonly Span[];
}

const stalls = new StallLog();
const users = new Map<string, string>();
/** The token that the next sign-in of a user issues. */
const nextTokens = new Map<string, string>();
let changes: ValidityChange[] = [];
let confirmations: Confirmation[] = [];
let calls = 0;
let service: ScriptedSessionService;
let random: SeededRandom;

function change(token: string, user: string | undefined): void {
  if (user === undefined) users.delete(token);
  else users.set(token, user);
  changes.push({ atMs: nowMs(), token, user });
}

/**
 * Occasionally the request is delayed, and more often the response, so that an answer is old when it arrives.
 */
function wayBackMs(): number {
  const place = random.next();
  if (place < 0.02) return random.between(150, 400);
  return place < 0.1 ? random.between(10, 80) : random.between(0, 3);
}

const wayThereMs = (): number => (random.next() < 0.05 ? random.between(5, 60) : 0);

/** Decides after the delay of the request, and answers after the delay of the response. */
function travelling(decide: (request: Parameters<Script>[0]) => Script): Script {
  return (request, response, socket) => {
    service.requests.length = 0;
    setTimeout(() => {
      const answer = decide(request);
      setTimeout(() => answer(request, response, socket), wayBackMs());
    }, wayThereMs());
  };
}

const details = travelling(({ headers }) => {
  const token = String(headers['x-auth-token']);
  const user = users.get(token);
  calls += 1;
  if (user === undefined) return reply(401);
  confirmations.push({ atMs: nowMs(), token, user });
  return json({ username: user, auth_token: token });
});

const signOut = travelling(({ headers }) => {
  const token = String(headers['x-auth-token']);
  if (!users.has(token)) return reply(401);
  change(token, undefined);
  return reply(200);
});

const signIn = travelling(({ body }) => {
  const { username } = JSON.parse(body) as { username: string };
  const token = nextTokens.get(username);
  if (token === undefined) return reply(401);
  change(token, username);
  return json({ username, auth_token: token });
});

const handlers = {
  start: async (seed: number): Promise<string> => {
    random = new SeededRandom(seed);
    service = await startSessionService();
    service.on('user_details', details);
    service.on('sign_out', signOut);
    service.on('sign_in', signIn);
    return service.url;
  },
  /** Ends sessions at the service itself, without notice to the applications. */
  end: (tokens: readonly string[]): void => {
    for (const token of tokens) if (users.has(token)) change(token, undefined);
  },
  /** Sets the token that the next sign-in of a user issues: a new one, or one that had ended. */
  willIssue: ({ user, token }: { user: string; token: string }): void => void nextTokens.set(user, token),
  take: (): ServiceRecord => {
    const taken = { changes, confirmations, calls, stalls: stalls.take() };
    [changes, confirmations, calls] = [[], [], 0];
    return taken;
  },
  stop: async (): Promise<void> => service.close(),
};

export type SessionServiceApi = typeof handlers;
serve(handlers);

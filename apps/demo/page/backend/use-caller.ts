import { useRef, useState } from 'preact/hooks';
import { type Call, type Exchange, send, stringField } from './exchange.js';
import { ME, type Route, routeKey } from './routes.js';

interface CallerState {
  /** The username of the caller; undefined: a caller without a session. */
  readonly username?: string;
  /** The user who is being signed in. */
  readonly signingIn?: string;
  /** The tokens of the sessions by username, kept only in a variable of this page: a reload loses them. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The token of the session that was signed out last. */
  readonly endedToken?: string;
  readonly last?: Exchange;
  /** The last reply of each route to this caller. */
  readonly tried: Readonly<Record<string, Exchange>>;
  /** The route that is being tried. */
  readonly waiting?: string;
}

/** Who sends the requests of free play, with the actions. */
export interface Caller extends CallerState {
  readonly token: string | undefined;
  /** Sends as a user; signs in if the user has no session. Without a password, sends without a session. */
  readonly sendAs: (username?: string, password?: string) => Promise<void>;
  readonly signOut: () => Promise<void>;
  /** Calls a route, with the given token or the caller's. */
  readonly tryRoute: (route: Route, path?: string, token?: string) => Promise<void>;
}

type Exchanging = (call: Call) => ReturnType<typeof send>;
type Change = (change: (state: CallerState) => CallerState) => void;

const SIGN_IN = { route: 'POST /api/session', method: 'POST', path: '/api/session' };
const SIGN_OUT = { route: 'DELETE /api/session', method: 'DELETE', path: '/api/session' };

/** Holds the sessions of the users of free play, with the last exchange of each route. */
export function useCaller(): Caller {
  const [state, setState] = useState<CallerState>({ tokens: {}, tried: {} });
  const token = useRef<string>(undefined);
  const exchange = (call: Call) => exchangeAndShow(call, setState);
  const tryRoute = async (route: Route, path = route.path, presented = token.current) => {
    await exchange({ route: routeKey(route), method: route.method, path, token: presented });
  };
  const become = (username: string | undefined, session: string | undefined) => {
    token.current = session;
    setState((before) => callerOf(before, username, session));
  };
  const sendAs = async (username?: string, password?: string) => {
    const known = username === undefined ? undefined : state.tokens[username];
    if (username === undefined || password === undefined || known !== undefined) {
      become(username, known);
    } else if (await signIn(username, password, exchange, setState, become)) await tryRoute(ME);
  };
  const signOut = async () => {
    const ended = token.current;
    if (!(await end(ended, exchange))) return;
    token.current = undefined;
    setState((before) => signedOut(before, ended));
  };
  return { ...state, token: token.current, sendAs, signOut, tryRoute };
}

/** Signs out. Resolves to whether the session has ended; with 401, it had ended before. */
async function end(token: string | undefined, exchange: Exchanging): Promise<boolean> {
  const { status } = (await exchange({ ...SIGN_OUT, token })).exchange;
  return token !== undefined && (status === 204 || status === 401);
}

/** Signs in. Resolves to whether the user has a session now. */
async function signIn(
  username: string,
  password: string,
  exchange: Exchanging,
  setState: Change,
  become: (username: string, token: string) => void,
): Promise<boolean> {
  setState((before) => ({ ...before, signingIn: username }));
  const { exchange: shown, json } = await exchange({ ...SIGN_IN, credentials: { username, password } });
  const token = shown.status === 200 ? stringField(json, 'token') : undefined;
  setState(signInEnded);
  if (token !== undefined) become(username, token);
  return token !== undefined;
}

function signInEnded(state: CallerState): CallerState {
  const { signingIn, ...before } = state;
  return signingIn === undefined ? state : before;
}

function callerOf(
  { tokens, last, endedToken }: CallerState,
  username: string | undefined,
  token: string | undefined,
): CallerState {
  return {
    tokens: username !== undefined && token !== undefined ? { ...tokens, [username]: token } : tokens,
    tried: {},
    ...(username !== undefined && { username }),
    ...(last && { last }),
    ...(endedToken !== undefined && { endedToken }),
  };
}

function signedOut({ tokens, last }: CallerState, ended: string | undefined): CallerState {
  const left = Object.fromEntries(Object.entries(tokens).filter(([, token]) => token !== ended));
  return {
    tokens: left,
    tried: {},
    ...(ended !== undefined && { endedToken: ended }),
    ...(last && { last }),
  };
}

async function exchangeAndShow(call: Call, setState: Change): ReturnType<typeof send> {
  setState((before) => ({ ...before, waiting: call.route }));
  const outcome = await send(call);
  setState((before) => withExchange(before, outcome.exchange));
  return outcome;
}

/** Replies can arrive out of order: the latest call remains the last exchange. */
function withExchange({ waiting, ...before }: CallerState, exchange: Exchange): CallerState {
  const last = before.last && before.last.number > exchange.number ? before.last : exchange;
  return {
    ...before,
    last,
    tried: { ...before.tried, [exchange.route]: exchange },
    ...(waiting !== undefined && waiting !== exchange.route && { waiting }),
  };
}

import { useRef, useState } from 'preact/hooks';
import { type Call, type Exchange, send, stringField } from './exchange.js';
import { ME, type Route, routeKey } from './routes.js';

interface ClientState {
  /** The username of the signed-in user. */
  readonly username?: string;
  /** Kept only in a variable of this page: a reload loses it. */
  readonly token?: string;
  /** The token of the session that this user signed out of. */
  readonly endedToken?: string;
  /** The user record as a handler receives it. */
  readonly record?: string;
  readonly last?: Exchange;
  /** The last reply of each route. */
  readonly tried: Readonly<Record<string, Exchange>>;
  /** The route that is being tried. */
  readonly waiting?: string;
}

/** The session of one user of the page, with its actions. */
export interface Client extends ClientState {
  /** Resolves to the token, or to undefined if the sign-in failed. */
  readonly signIn: (username: string, password: string) => Promise<string | undefined>;
  readonly signOut: () => Promise<void>;
  /** Calls a route, with the given token or the session's. */
  readonly tryRoute: (route: Route, path?: string, token?: string) => Promise<void>;
}

type Change = (change: (state: ClientState) => ClientState) => void;

/** Holds the session of one user, with the last exchange of each route. */
export function useClient(): Client {
  const [state, setState] = useState<ClientState>({ tried: {} });
  const token = useRef<string>(undefined);

  const exchange = (call: Call) => exchangeAndShow(call, setState);
  const tryRoute = async (route: Route, path = route.path, presented = token.current) => {
    await exchange({ route: routeKey(route), method: route.method, path, token: presented });
  };
  const signIn = async (username: string, password: string) => {
    const { exchange: shown, json } = await exchange({ ...SIGN_IN, credentials: { username, password } });
    const fresh = shown.status === 200 ? stringField(json, 'token') : undefined;
    if (fresh === undefined) return undefined;
    token.current = fresh;
    setState(signedIn(username, fresh));
    await tryRoute(ME);
    return fresh;
  };
  const signOut = async () => {
    const ended = token.current;
    const { exchange: shown } = await exchange({ ...SIGN_OUT, token: ended });
    // 401: the session had already ended.
    if (ended === undefined || (shown.status !== 204 && shown.status !== 401)) return;
    token.current = undefined;
    setState(({ last }) => ({ tried: {}, endedToken: ended, ...(last && { last }) }));
  };
  return { ...state, signIn, signOut, tryRoute };
}

const SIGN_IN = { route: 'POST /api/session', method: 'POST', path: '/api/session' };
const SIGN_OUT = { route: 'DELETE /api/session', method: 'DELETE', path: '/api/session' };

function signedIn(username: string, token: string): (state: ClientState) => ClientState {
  return ({ last }) => ({ tried: {}, username, token, ...(last && { last }) });
}

async function exchangeAndShow(call: Call, setState: Change): ReturnType<typeof send> {
  setState((before) => ({ ...before, waiting: call.route }));
  const outcome = await send(call);
  setState((before) => withExchange(before, outcome.exchange));
  return outcome;
}

/** Replies can arrive out of order: the latest call remains the last exchange. */
function withExchange({ waiting, ...before }: ClientState, exchange: Exchange): ClientState {
  const last = before.last && before.last.number > exchange.number ? before.last : exchange;
  const tried = { ...before.tried, [exchange.route]: exchange };
  return {
    ...before,
    last,
    tried,
    ...(exchange.route === routeKey(ME) && exchange.status === 200 && { record: exchange.body }),
    ...(waiting !== undefined && waiting !== exchange.route && { waiting }),
  };
}

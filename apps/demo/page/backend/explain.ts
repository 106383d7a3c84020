import { type Exchange } from './exchange.js';

const PUBLIC_ROUTE = 'GET /api/health';
const OPTIONAL_ROUTE = 'GET /api/greeting';

/** Says in one sentence why a call was answered as it was. */
export function explain(exchange: Exchange): string {
  const { status, route } = exchange;
  if (status === 0) return 'No reply came: is the demo still running?';
  if (route === 'POST /api/session') return explainSignIn(exchange);
  if (status === 401) return explainChallenge(exchange);
  if (status === 403) return 'Signed in, but the rule of this route says no. A new sign-in would not help, so nothing asks for one.';
  if (status === 503) return explainOutage(exchange);
  if (status >= 400) return 'The guard let the call in; what failed lies behind it.';
  return explainEntry(exchange);
}

function explainChallenge({ code }: Exchange): string {
  if (code === 'SESSION_REQUIRED') return 'No token came with the request: WWW-Authenticate asks for one.';
  return 'The token is not valid, or not any more: WWW-Authenticate asks for another.';
}

function explainOutage({ retryAfter }: Exchange): string {
  const wait = retryAfter === undefined ? 'later' : `in ${retryAfter} s, as Retry-After says`;
  return `Nobody can say now whether the session is valid, so nobody enters. Try again ${wait}.`;
}

function explainSignIn({ status, retryAfter }: Exchange): string {
  if (status === 200) return 'Signed in: the reply brings the token for X-AUTH-TOKEN.';
  if (status === 202) return 'Accepted, but not signed in: the reply brings neither a user nor a token.';
  if (status === 401) return 'The username or the password is wrong; nobody learns which.';
  if (status === 503) return `The session service gave no usable answer. Try again in ${retryAfter ?? 'some'} s.`;
  return 'The sign-in was refused.';
}

function explainEntry({ route, withToken }: Exchange): string {
  if (route === PUBLIC_ROUTE) return 'The route is public: the guard asks nobody.';
  if (route === 'DELETE /api/session') return 'Signed out: the session has ended, and every memory of it is gone.';
  if (withToken && route === OPTIONAL_ROUTE)
    return 'Anyone may enter; the handler gets the user if the session is valid, and nobody otherwise.';
  if (withToken) return 'The session is valid, and the rule of the route lets its user in.';
  return 'No token came, and this route does without one.';
}

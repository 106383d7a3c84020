import { type Exchange } from './exchange.js';

const PUBLIC_ROUTE = 'GET /api/health';
const OPTIONAL_ROUTE = 'GET /api/greeting';

/** Returns one sentence that explains a reply. */
export function explain(exchange: Exchange): string {
  const { status, route } = exchange;
  if (status === 0) return 'No reply came: is the demo still running?';
  if (route === 'POST /api/session') return explainSignIn(exchange);
  if (status === 401) return explainChallenge(exchange);
  if (status === 403)
    return 'Signed in, but the rule of this route denies this user. Another sign-in would not help, so there is no WWW-Authenticate.';
  if (status === 503) return explainOutage(exchange);
  if (status >= 400) return 'The guard admitted the request; the error comes from the code behind it.';
  return explainEntry(exchange);
}

function explainChallenge({ code }: Exchange): string {
  if (code === 'SESSION_REQUIRED') return 'The request has no token. WWW-Authenticate requires one.';
  return 'The token is not valid, or no longer valid. WWW-Authenticate requires another.';
}

function explainOutage({ retryAfter }: Exchange): string {
  const wait = retryAfter === undefined ? 'later' : `in ${retryAfter} s (Retry-After)`;
  return `The session service is unavailable, so the session can't be checked and the request is denied. Try again ${wait}.`;
}

function explainSignIn({ status, retryAfter }: Exchange): string {
  if (status === 200) return 'Signed in: the reply contains the token for X-AUTH-TOKEN.';
  if (status === 202) return 'Accepted, but not signed in: the reply contains neither a user nor a token.';
  if (status === 401) return 'The username or the password is wrong. The reply does not say which.';
  if (status === 429)
    return `Too many sign-ins have failed, so the session service accepts no more for a while. Try again in ${retryAfter ?? 'some'} s (Retry-After).`;
  if (status === 503)
    return `The session service gave no usable answer. Try again in ${retryAfter ?? 'some'} s.`;
  return 'The sign-in was refused.';
}

function explainEntry(exchange: Exchange): string {
  const { route, withToken } = exchange;
  if (route === PUBLIC_ROUTE) return 'The route is public: the guard makes no check.';
  if (route === 'DELETE /api/session') return 'Signed out: the session is revoked and no longer cached.';
  if (withToken && route === OPTIONAL_ROUTE)
    return 'Anyone may call this route. The handler receives the user if the session is valid, and undefined otherwise.';
  if (withToken) return explainAdmission(exchange);
  return 'The request has no token, and this route needs none.';
}

/** A cached answer may be out of date: the session may have ended since. */
function explainAdmission({ answeredBy }: Exchange): string {
  if (answeredBy?.startsWith('cache'))
    return 'The session was valid when the service was asked, and its user met the rule of the route.';
  return 'The session is valid, and its user meets the rule of the route.';
}

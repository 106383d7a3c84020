import type {
  AxiosInstance,
  AxiosRequestHeaders,
  AxiosRequestTransformer,
  InternalAxiosRequestConfig,
} from 'axios';
import type { SessionIdentity } from '../contract/session-identity.js';
import { AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../contract/wire.js';
import type { RelayedSession } from './session-context.js';
import { originOf, targetOf } from './relay-origins.js';

type Transform = (this: InternalAxiosRequestConfig, data: unknown, headers: AxiosRequestHeaders) => unknown;
type FollowRedirect = NonNullable<InternalAxiosRequestConfig['beforeRedirect']>;

const SESSION_HEADERS: ReadonlySet<string> = new Set(
  [AUTH_TOKEN_HEADER, AUTH_IV_HEADER].map((name) => name.toLowerCase()),
);

/** By transform of this file. A request that is sent again has the transform of its first attempt. */
const sessions = new WeakMap<object, RelayedSession | undefined>();
/** The redirect hooks of this file, of which a request that is sent again has one. */
const hooks = new WeakSet<object>();

export function sessionHeaders({ token, authIv }: SessionIdentity): Record<string, string> {
  return { [AUTH_TOKEN_HEADER]: token, ...(authIv !== undefined && { [AUTH_IV_HEADER]: authIv }) };
}

/**
 * Adds the current session to those requests of an axios instance that go to a target of its authority.
 * The headers are set by the last transform of the request: no interceptor can still send them elsewhere.
 */
export function relayFrom(
  axios: AxiosInstance,
  targets: ReadonlySet<string>,
  currentSession: () => RelayedSession | undefined,
): void {
  axios.interceptors.request.use((config) => {
    const session = currentSession();
    const transform: Transform = function (data, headers) {
      if (session)
        setSessionHeaders(
          this,
          headers,
          session,
          targets.has(targetOf(originOf(finalUrl(axios, this)), session.authority)),
        );
      return data;
    };
    sessions.set(transform, session);
    config.transformRequest = [...transformsOfOthers(config), transform];
    return config;
  });
}

/**
 * Removes the session of an earlier attempt: the same configuration may be sent again for another caller, or
 * for none.
 */
function transformsOfOthers({
  transformRequest,
  headers,
}: InternalAxiosRequestConfig): AxiosRequestTransformer[] {
  return [transformRequest ?? []].flat().filter((transform) => {
    const token = sessions.get(transform)?.token;
    if (token !== undefined && headers.get(AUTH_TOKEN_HEADER) === token)
      headers.delete([AUTH_TOKEN_HEADER, AUTH_IV_HEADER]);
    return !sessions.has(transform);
  });
}

/**
 * Leaves a token that the request has already, unless it is that of the session, on its way to another
 * origin.
 */
function setSessionHeaders(
  config: InternalAxiosRequestConfig,
  headers: AxiosRequestHeaders,
  session: RelayedSession,
  isTarget: boolean,
): void {
  const own = headers.get(AUTH_TOKEN_HEADER);
  const isOfSession = own === session.token;
  if (!isTarget && isOfSession) headers.delete([AUTH_TOKEN_HEADER, AUTH_IV_HEADER]);
  if (!isTarget || (own && !isOfSession)) return;
  // An IV belongs to the token that it was presented with.
  headers.delete(AUTH_IV_HEADER);
  headers.set(sessionHeaders(session));
  keepFromRedirects(config);
}

/**
 * Drops the headers on each redirect, also within an origin: axios and follow-redirects would send them on,
 * to any host.
 */
function keepFromRedirects(config: InternalAxiosRequestConfig): void {
  const { beforeRedirect, fetchOptions } = config;
  if (!hooks.has(beforeRedirect as object)) config.beforeRedirect = hookAfter(beforeRedirect);
  // The fetch adapter has no such function, and fetch drops no header of ours.
  config.fetchOptions = { ...fetchOptions, redirect: 'manual' };
}

function hookAfter(beforeRedirect: FollowRedirect | undefined): FollowRedirect {
  const hook: FollowRedirect = (options, ...rest) => {
    beforeRedirect?.(options, ...rest);
    const headers = options.headers as object;
    for (const name of Object.keys(headers))
      if (SESSION_HEADERS.has(name.toLowerCase())) Reflect.deleteProperty(headers, name);
  };
  hooks.add(hook);
  return hook;
}

/**
 * Returns the URL as the adapter builds it, from the configuration alone: `getUri()` would use the defaults
 * of the instance for what an interceptor has removed.
 */
function finalUrl(
  axios: AxiosInstance,
  { baseURL, url, allowAbsoluteUrls }: InternalAxiosRequestConfig,
): string | undefined {
  try {
    return axios.getUri({
      baseURL: baseURL ?? '',
      url: url ?? '',
      allowAbsoluteUrls: allowAbsoluteUrls ?? true,
    });
  } catch {
    return undefined;
  }
}

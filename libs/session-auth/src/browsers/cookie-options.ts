/** Which requests of other sites' pages carry the cookie: none; only those that open a page; all. */
export type SameSite = 'strict' | 'lax' | 'none';

/**
 * Options of `sessionCookie()`. Browsers silently drop a cookie with a combination that they don't allow;
 * here it is an error.
 */
export interface SessionCookieOptions {
  /**
   * Name of the cookie, as in `fromCookie(name)`. Browsers accept a name that starts with `__Host-` only from
   * its own host, over https and for all paths, so that no other subdomain can set the cookie. @default
   * '__Host-session'
   */
  readonly name?: string;
  /** Which requests of other sites' pages carry the cookie. @default 'lax' */
  readonly sameSite?: SameSite;
  /**
   * Seconds until browsers delete the cookie. 1 to 34 560 000 (400 days). @default none (when the browser
   * closes)
   */
  readonly maxAgeSeconds?: number;
  /**
   * Also sends the cookie to the subdomains of this domain. Not with a name that starts with `__Host-`.
   * @default none (its own host only)
   */
  readonly domain?: string;
  /**
   * Sends the cookie to paths that start with this one only, which is no protection from other paths. Not
   * with `__Host-`. @default '/'
   */
  readonly path?: string;
  /**
   * Whether browsers send the cookie over https only. Chromium also accepts it from `http://localhost`.
   * `false` is for http alone, with a name that starts neither with `__Host-` nor with `__Secure-`. @default
   * true
   */
  readonly secure?: boolean;
}

export type CookieSettings = Required<Omit<SessionCookieOptions, 'maxAgeSeconds' | 'domain'>> &
  Pick<SessionCookieOptions, 'maxAgeSeconds' | 'domain'>;

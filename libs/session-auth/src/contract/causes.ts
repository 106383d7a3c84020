/** A cause that is not the caller's own. */
interface Cause {
  /** Its log line, after its name: what is affected, and what to do. */
  readonly text: string;
  /**
   * What ends it: an answer of the session service to the same kind of calls, one that accepts, what is
   * reported as its end, or ten minutes without it.
   */
  readonly ends: 'answer' | 'acceptance' | 'report' | 'quiet';
  /** Level of its line. @default 'warn' */
  readonly level?: 'error';
  /** Whether it denies no call, or those of a single user: the state stays `up`. */
  readonly isHarmless?: true;
}

/**
 * Every cause of denials, or of late revocations, that is not the caller's own. The name begins the log line,
 * and is the one in `serviceStatus`, health and metrics. `%` stands for the particulars of an occurrence.
 */
export const CAUSES = {
  'service unreachable': {
    text: '% get 503: the connection to the session service failed%',
    ends: 'answer',
  },
  'connection lost': {
    text: 'an idle connection to the session service was dead, and a new one works: what is in between drops connections without closing them, or a host stood still. Checks on such connections take up to 2 s longer. Let proxies, load balancers and NAT keep idle connections for more than 4 s.',
    ends: 'quiet',
    isHarmless: true,
  },
  'TLS failure': {
    text: 'the connection to the session service failed with %. Calls get 503. Check %.',
    ends: 'answer',
  },
  'service too slow': {
    text: '% get 503: the session service did not answer in time. Find what slows it down, or allow more time: %.',
    ends: 'answer',
  },
  'service failing': {
    text: '% get 503: the session service answers %. Its own log says why.',
    ends: 'answer',
  },
  throttled: {
    text: '% get %: the session service answers 429. Have it allow this application more calls%.',
    ends: 'answer',
  },
  'too many calls': {
    text: '% get 503 at once: as many calls are under way or wait as the options allow. Find what slows the session service down, or raise %.',
    ends: 'answer',
  },
  'no key': {
    text: '% get 503: the function apiKey threw, took too long, or returned no key. Correct it.',
    ends: 'answer',
  },
  'no HTTP client': {
    text: 'no call can be sent, so that every check gets 503. %',
    ends: 'report',
    level: 'error',
  },
  'unexpected reply': {
    text: 'the session service answered % to %, which get 503. %.',
    ends: 'acceptance',
  },
  'unusable reply': {
    text: 'the session service answered % to %, which get 503. Check %.',
    ends: 'acceptance',
  },
  'token mismatch': {
    text: "user_details answered 200 with another auth_token than was presented, which may be another caller's answer. By default (tokenEcho: 'deny') its caller gets 503. Look for a proxy that mixes up responses; set tokenEcho: 'ignore' only if the service issues new tokens on purpose.",
    ends: 'quiet',
  },
  'invalid user record': {
    text: '%, but %. %',
    ends: 'quiet',
    isHarmless: true,
  },
  'key refused': {
    text: '%: apiKey or baseUrl is probably wrong%. Users still get 401 or 403.',
    ends: 'report',
    level: 'error',
  },
  'access refused': {
    text: '% get 403, because the session service answers 403: it refuses apiKey, or this user. Correct apiKey%.',
    ends: 'acceptance',
    isHarmless: true,
  },
  'rule failed': {
    text: '%. Its calls % (ACCESS_CHECK_FAILED). To deny, return false; to answer otherwise, throw an HttpException.',
    ends: 'report',
  },
  'no local user': {
    text: 'loadUser returned something that is no user, such as a boolean or an empty value: the call got 403. Return the user, or undefined without one.',
    ends: 'quiet',
  },
  'token source failed': {
    text: 'a function of the option token threw, or answered later: the call got 401. Correct the function: it must answer at once.',
    ends: 'quiet',
    isHarmless: true,
  },
  'no registration': {
    text: 'calls of % get 403: its module has no registration of SessionAuthModule, or more than one. Import one there.',
    ends: 'quiet',
  },
  'closed context': {
    text: "calls of the kind '%' are denied, because the library does not know how they present a session. %",
    ends: 'quiet',
  },
  'unprotected socket': {
    text: '%, because its server is not protected. Call SessionSockets.protect(server) in afterInit.',
    ends: 'quiet',
    isHarmless: true,
  },
  'unwatched subscription': {
    text: 'a subscription was denied, because it would outlive its session: its context does not have the socket. Use the context that the GraphQL server passes to the option `context`, or @KeepOpen().',
    ends: 'quiet',
  },
  'event subscriber failed': {
    text: 'a subscriber of SessionAuthEvents.% threw or rejected. Catch its errors there.',
    ends: 'quiet',
    isHarmless: true,
  },
  'listener failed': {
    text: 'what runs when a session ends threw, such as a listener of its socket. Catch its errors there.',
    ends: 'quiet',
    isHarmless: true,
  },
  'caching forbidden': {
    text: 'the session service forbids caching its answers (Cache-Control: no-store, no-cache or max-age=0, or Age), so cache.ttlMs has no effect and every check calls the service. Have the service or the proxy before it send Cache-Control: private to user_details.',
    ends: 'quiet',
    isHarmless: true,
  },
  'session store unavailable': {
    text: 'checks call the session service instead, and sign-outs reach other instances late. Check cache.store.',
    ends: 'report',
  },
  'revocation bus interrupted': {
    text: 'sign-outs on other instances take effect here after cache.ttlMs at the latest (%). Check cache.store and its permissions.',
    ends: 'report',
  },
  'unreadable messages': {
    text: 'no secret of this instance opens the messages of another, so that their sign-outs do not reach each other. Give all instances one secret and one spelling of baseUrl, and each application its own prefix.',
    ends: 'quiet',
    isHarmless: true,
  },
  'clock differs': {
    text: 'the clocks of this host and of another instance are more than a minute apart, so that sessions in cache.store expire early. Synchronise them (NTP).',
    ends: 'quiet',
    isHarmless: true,
  },
  // Not `as const`, which would repeat the texts in the declarations.
} satisfies Readonly<Record<string, Cause>>;

/** Name of a cause that is not the caller's own: it begins the log line. The list grows with the library. */
export type CauseName = keyof typeof CAUSES;

export function causeOf(name: CauseName): Cause {
  return CAUSES[name];
}

/** The calls that an outage affects, in the words of the log. */
export const AFFECTED = { user_details: 'checks', sign_in: 'sign-ins', sign_out: 'sign-outs' } as const;

/** A cause that is not over. */
export interface ActiveCause {
  /** Its name. */
  readonly cause: CauseName;
  /** Which calls, which rule of which handler, which field; empty if there is only one. Never a user. */
  readonly subject: string;
  /** Time of its first occurrence, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Number of occurrences so far: calls that failed, or messages that could not be read. */
  readonly failures: number;
  /**
   * Whether it no longer occurs. The cause is over, and leaves the list, if it does not occur for a minute.
   */
  readonly isRecovering: boolean;
}

/** Reports causes. Costs nothing while there are none. */
export interface CauseReports {
  /** A cause occurred. @param details replace the `%` of its line, `subject` the first without them */
  occurred(cause: CauseName, subject?: string, ...details: string[]): void;
  /** There is evidence that a cause no longer occurs: a call was answered, a rule was evaluated. */
  recovered(cause: CauseName, subject?: string): void;
  /** Whether no cause is active, so that evidence need not be reported. */
  readonly areNone: boolean;
}

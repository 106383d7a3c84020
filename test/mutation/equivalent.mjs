const BRAND = 'The brand is found by `in`: its value does not matter.';
const REFUSED = 'The guard admits only `true`: any other value refuses.';
const OWN_NAME = 'A name within the library: any text that no other name has works as well.';
const NO_SUCH_MEMBER = 'Values of other kinds do not have the member: the result is undefined as well.';
const SET_HERE =
  'The value is not undefined here, because a former line depends on it: only the compiler needs the question mark.';
const FASTER = 'The result is the same without it: only time is saved.';
const NO_SUCH_KEY = 'The map has no such key, so that the result is the same.';
const RETURNS_NOTHING = 'The function returns undefined at its end as well.';
const BUILT =
  "Nest's builder always gives a definition its providers and exports: only the compiler needs the list.";
const SAME_TEXT = 'Equal strings cannot be distinguished: only memory is saved.';

/**
 * Mutants that change nothing that a program can observe, by file and by the function, class or constant that
 * they are in: the original and its replacement (white space does not matter), the reason, and the number of
 * places there, where it is more than one. `npm run test:places` finds those whose code is gone. Code at the
 * top of a file is in ''.
 */
const MUTANTS = {
  'contract/errors.ts': {
    value: [['true', 'false', BRAND]],
    markAsSessionAuthError: [['{ value: true }', '{}', BRAND]],
  },
  'contract/session-store.ts': {
    value: [['true', 'false', BRAND]],
    '': [['{ value: true }', '{}', BRAND]],
  },
  'contract/record/user-reader.ts': {
    internCommonValues: [
      ['{ name, share: internTable<string>() }', '{}', SAME_TEXT],
      [
        "{ const text = user[name]; if (typeof text === 'string') user[name] = share(text, text); }",
        '{}',
        SAME_TEXT,
      ],
      ["typeof text === 'string'", 'false', SAME_TEXT],
      ["'string'", '""', SAME_TEXT],
    ],
    internTable: [
      [
        'key.length <= MAX_LENGTH',
        'true',
        'Longer values are strings, because the ids of a ccl_info are safe integers. Equal strings cannot be distinguished.',
      ],
      ['key.length <= MAX_LENGTH', 'key.length < MAX_LENGTH', SAME_TEXT],
    ],
  },
  'client/reply.ts': {
    readCacheForMs: [
      [
        'control === undefined && age === undefined',
        'false',
        'The lifetime is then ttlMs, for which the function returns undefined as well.',
      ],
    ],
  },
  'client/axios-http.service.ts': {
    '[SESSION_HTTP]': [['true', 'false', BRAND]],
  },
  'guard/access.decorators.ts': {
    Authorize: [['() => false', '() => undefined', REFUSED]],
  },
  'guard/session-auth-error.filter.ts': {
    DEFAULT_CHALLENGE: [
      ['[]', '["Stryker was here"]', 'A text names no scheme: it is the same as no source.'],
    ],
  },
  'guard/http-request.ts': {
    headerCount: [
      ['index < lines.length', 'index <= lines.length', 'There is no name after the last line.'],
      [
        'name?.length === header.length',
        'true',
        'A name of another length differs: no letter that becomes several in lower case becomes letters of ASCII only.',
      ],
      ['name?.length', 'name.length', 'The loop stays within the list.'],
    ],
  },
  'guard/denial.ts': {
    reportDenial: [
      ['DENIALS.hasSubscribers', 'true', 'Without subscribers, publish() does nothing: only time is saved.'],
    ],
  },
  'guard/decision-reports.ts': {},
  'guard/cross-origin.ts': {
    isCrossOrigin: [
      ['origin !== undefined', 'true', 'The set of trusted origins does not contain undefined.'],
    ],
    opensSocket: [["''", '"Stryker was here!"', 'The expression does not match this text either.', 2]],
    isWebOrigin: [
      ['/^https?:\\/\\//', '/https?:\\/\\//', 'The origin of any other URL differs from the URL.'],
    ],
    '[MARK]': [['true', 'false', BRAND]],
  },
  'verifier/session-verifier.ts': {
    '#reported': [["verdict.kind === 'authenticated'", 'true', NO_SUCH_MEMBER]],
    reason: [["verdict.kind === 'unavailable'", 'true', NO_SUCH_MEMBER]],
    '#orStale': [['this.#cache?.findStale', 'this.#cache.findStale', SET_HERE]],
    check: [['this.#cache?.tryRefresh', 'this.#cache.tryRefresh', SET_HERE]],
  },
  'verifier/single-flight.ts': {
    '#canJoin': [['maxAgeMs === Infinity', 'false', FASTER]],
  },
  'verifier/session-cache.ts': {
    '#storeUser': [
      [
        'sessionKey === tokenKey',
        'false',
        'The entry has the same user and the same key: only memory is saved.',
      ],
      ['refreshAheadMs > 0', 'true', 'With 0, the cache asks for no refresh: only memory is saved.'],
      [
        'refreshAheadMs > 0',
        'refreshAheadMs >= 0',
        'With 0, the cache asks for no refresh: only memory is saved.',
      ],
    ],
    setTombstone: [['true', 'false', 'A tombstone is any value: it is compared with undefined.']],
  },
  'verifier/revocations.ts': {
    hasNoUsers: [
      ['this.#newestUserAtMs === -Infinity', 'false', FASTER],
      ['-Infinity', '+Infinity', FASTER],
    ],
    revokes: [['tokenKey !== undefined', 'true', NO_SUCH_KEY]],
  },
  'verifier/circuit-breaker.ts': {
    '#published': [["'closed'", '""', 'The first state after it is never closed.']],
    undoTrip: [["this.state.kind !== 'closed'", 'true', 'Other states do not have the member.']],
    '#publish': [['this.#onChange?.(state)', 'this.#onChange(state)', SET_HERE]],
    count: [
      [
        'this.#slices.slice(1 - SLICES)',
        'this.#slices',
        'The sums exclude slices before the window anyway: only memory is saved.',
      ],
    ],
    recordCall: [
      [
        'this.#limited.size > 0',
        'true',
        'The first 429 after five minutes clears the table: only time is saved.',
      ],
    ],
  },
  'verifier/lanes.ts': {
    '#next': [
      ['this.#turn + 1', 'this.#turn - 1', 'The remainder is 0 at every fourth turn in both directions.'],
    ],
    '#makeRoom': [
      [
        'oldest?.settle',
        'oldest.settle',
        'If the queue is full and a lane is below its share, the other has a waiter.',
      ],
      [
        'oldest !== undefined',
        'true',
        'If the queue is full and a lane is below its share, the other has a waiter.',
      ],
    ],
    letFirstEnter: [['!first', 'false', 'Only a lane with a waiter gets the next place.']],
  },
  'fleet/outbox.ts': {
    flush: [['start < all.length', 'start <= all.length', 'A batch without deliveries ends the loop.']],
  },
  'fleet/session-seal.ts': {
    seal: [
      [
        '{ authTagLength: TAG_BYTES }',
        '{}',
        'It is the length by default, and open() passes a tag of this length.',
      ],
    ],
    open: [
      [
        '{ authTagLength: TAG_BYTES }',
        '{}',
        'It is the length by default, and open() passes a tag of this length.',
      ],
      ["'utf8'", '""', 'The concatenation converts the bytes in the same way.', 2],
      ['{ return undefined; }', '{}', 'Without a return, the result is undefined.'],
    ],
  },
  'contract/wire.ts': {
    parseObject: [['{ return undefined; }', '{}', 'Without a return, the result is undefined.']],
  },
  'fleet/shared-cache.ts': {
    '#verdictOf': [
      ['text === undefined', 'false', 'The next line returns undefined too, because undefined is no JSON.'],
    ],
  },
  'fleet/fleet.ts': {
    '#store': [["verdict.kind !== 'authenticated'", 'false', NO_SUCH_MEMBER]],
  },
  'fleet/store-access.ts': {
    insist: [['began', 'true', 'The breaker ignores a call that began in no state.']],
  },
  'module/events/event-source.ts': {
    fingerprintOf: [
      ["'latin1'", '""', 'A fingerprint is valid in its process only: any encoding distinguishes keys.'],
    ],
  },
  'module/events/isolated-observable.ts': {
    pipe: [
      ['operators.length === 0', 'false', 'The observable is isolated a second time, which changes nothing.'],
    ],
  },
  'module/wiring.ts': {
    breakerReporter: [['BREAKER.hasSubscribers', 'true', FASTER]],
  },
  'module/providers.ts': {
    registrationModule: [['[]', '["Stryker was here"]', BUILT]],
  },
  'audit/schema-reach.ts': {
    builtRootFields: [
      ["typeof token === 'function'", 'true', NO_SUCH_MEMBER],
      ['{ return undefined; }', '{}', RETURNS_NOTHING],
    ],
  },
  'sockets/socket-io-handshakes.ts': {
    REPLACED: [["'busy'", '""', 'The client gets the code of the denial, and not its reason.']],
  },
  'browsers/same-origin.guard.ts': {
    NO_CHALLENGE: [['[]', '["Stryker was here"]', 'Only a 401 has a challenge, and this guard answers 403.']],
  },
  'terminus/session-auth.health.ts': {
    '#sharedProbe': [["verdict.kind === 'unavailable'", 'true', NO_SUCH_MEMBER]],
  },
  'redis/probe.ts': {
    reasonOf: [
      ["''", '"Stryker was here!"', 'Neither text is a reply of the list.'],
      ['[]', '["Stryker was here"]', 'Neither list has a reason.'],
      ['code !== undefined', 'true', 'The text of undefined has small letters, which no code has.'],
    ],
    receive: [['this.#onArrival?.()', 'this.#onArrival()', SET_HERE]],
    '#try': [["'not published'", '""', OWN_NAME]],
  },
  'redis/redis-session-store.ts': {
    setRevocation: [
      [
        'timeMs > Number(await recorded)',
        'timeMs >= Number(await recorded)',
        'The same time is recorded again.',
      ],
    ],
  },
  'redis/scripts.ts': {
    script: [["'hex'", '""', 'The server does not know the name, and gets the text each time: more slowly.']],
  },
  'redis/commands.ts': {
    clocksMs: [['[]', '["Stryker was here"]', 'A text is no later time.']],
    clockMs: [['{ return 0; }', '{}', 'Neither result is a later time.']],
  },
  'redis/subscription.ts': {
    '#lastNode': [["''", '"Stryker was here!"', 'No node has either address.']],
  },
};

export const EQUIVALENT = Object.entries(MUTANTS).flatMap(([file, places]) =>
  Object.entries(places).flatMap(([where, mutants]) =>
    mutants.map(([original, replacement, , count = 1]) => ({ file, where, original, replacement, count })),
  ),
);

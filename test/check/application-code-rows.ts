/** Ways in which code of the application fails. */
export type Misbehaviour =
  | 'throws'
  | 'rejects'
  | 'rejects late'
  | 'never settles'
  | 'returns a promise'
  | 'returns a query'
  | 'returns a query that throws'
  | 'returns a query that rejects'
  | 'returns an object whose then() is unreadable'
  | 'returns nothing'
  | 'resolves to nothing'
  | 'returns another type';

/** Code of the application that fails in one way, where the library calls it. */
export interface Row {
  readonly place: string;
  readonly misbehaviour: Misbehaviour;
}

export interface Outcome extends Row {
  readonly answer: string;
  /** Warnings and errors in the log. */
  readonly lines: readonly string[];
  /** Rejections that nothing handled, and exceptions that nothing caught: each would end a process. */
  readonly strays: readonly string[];
}

/** The answer to the caller, what each line of the log is, and the number of strays. */
export type Expected = readonly [answer: string, line?: RegExp | undefined, strays?: number];
type Expectations = Partial<Record<Misbehaviour, Expected>>;

const of = (expected: Expected, ...all: Misbehaviour[]): Expectations =>
  Object.fromEntries(all.map((each) => [each, expected]));

const FAILS = [
  'throws',
  'rejects',
  'returns a query that throws',
  'returns a query that rejects',
  'returns an object whose then() is unreadable',
] as const;
const TAKES_TOO_LONG = ['rejects late', 'never settles'] as const;
const ANSWERS_LATER = ['returns a promise', 'returns a query'] as const;
const NOTHING = ['returns nothing', 'resolves to nothing'] as const;
/** For code that must answer at once. */
const FAILS_OR_IS_LATE = [...FAILS, ...TAKES_TOO_LONG, ...ANSWERS_LATER, 'resolves to nothing'] as const;

const RULE: Expectations = {
  ...of(['503 ACCESS_CHECK_FAILED', /^rule failed: .* failed with Error\./], ...FAILS),
  ...of(['503 ACCESS_CHECK_FAILED', /^rule failed: .* took longer than timeoutMs\./], ...TAKES_TOO_LONG),
  ...of(['200'], ...ANSWERS_LATER),
  ...of(['403 ACCESS_DENIED'], ...NOTHING, 'returns another type'),
};

const UNAVAILABLE = '503 SESSION_SERVICE_UNAVAILABLE';
const INVALID: Expected = [UNAVAILABLE, /^invalid user record: /];
const STORE_LINE = /^session store unavailable: /;
const CALLS = '200 200 401 signed-in';
/** A store says nothing wrong by an answer that nothing reads. */
const storing = (...answers: Misbehaviour[]): Expectations => ({
  ...of([CALLS, STORE_LINE], 'throws', 'rejects', ...TAKES_TOO_LONG, ...answers),
});
const BUS_LINE = /^revocation bus interrupted: .*\(subscribe\(\) of cache\.store failed\)/;

/** The place of the code, what it does, and what comes of it. */
export const TABLE: Readonly<Record<string, Expectations>> = {
  'a rule': RULE,
  'a scoped policy': RULE,
  'the class loadUser': { ...RULE, 'returns another type': ['403 ACCESS_DENIED', /^no local user: /] },
  'the function apiKey': {
    ...of(
      [UNAVAILABLE, /^no key: checks get 503: the function apiKey threw, took too long/],
      ...FAILS,
      ...TAKES_TOO_LONG,
      ...NOTHING,
      'returns another type',
    ),
    ...of(['200'], ...ANSWERS_LATER),
  },
  'a token source': {
    ...of(['401 SESSION_REJECTED', /^token source failed: /], ...FAILS_OR_IS_LATE),
    'returns nothing': ['401 SESSION_REQUIRED'],
    'returns another type': ['401 SESSION_REJECTED'],
  },
  'a schema': of(INVALID, ...FAILS_OR_IS_LATE, 'returns nothing', 'returns another type'),
  'a field of a schema': {
    ...of(INVALID, ...FAILS_OR_IS_LATE),
    ...of(['200'], 'returns nothing', 'returns another type'),
  },
  'a validator of a class': of(INVALID, ...FAILS_OR_IS_LATE, 'returns nothing'),
  decisions$: {
    ...of(
      ['200', /^event subscriber failed: a subscriber of SessionAuthEvents\.decisions\$ /],
      ...FAILS,
      'rejects late',
    ),
    ...of(['200'], 'never settles', ...ANSWERS_LATER, ...NOTHING),
  },
  // Node.js reports it as an exception that nothing caught. The caller gets its answer even so.
  'a subscriber of a diagnostics channel': { throws: ['200', undefined, 1] },
  'get() of the store': storing('returns nothing', 'resolves to nothing', 'returns another type'),
  'set() of the store': storing(),
  'delete() of the store': storing(),
  'setTombstone() of the store': storing(),
  'clearTombstone() of the store': storing(),
  'setRevocation() of the store': storing(),
  'getRevocations() of the store': storing('returns nothing', 'resolves to nothing', 'returns another type'),
  'publish() of the store': storing(),
  'subscribe() of the store': {
    ...of([CALLS, BUS_LINE], 'throws', 'rejects', 'rejects late'),
    ...of([CALLS], 'never settles', 'returns nothing', 'resolves to nothing', 'returns another type'),
  },
  'unsubscribe() of the store': of([CALLS], 'throws', 'rejects', 'never settles', 'returns nothing'),
};

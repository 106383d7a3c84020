import fc from 'fast-check';
import { texts, weighted } from './drawing.js';

/** Pages of the application's own origin may use its cookie, and those of the trusted one. */
const HOST = 'app.example.com:8443';
export const TRUSTED = 'https://front.example.com';
export const COOKIE = 'sid';
export const HEADER = 'X-Session';

const VALID = ['token-of-ann', 'token-of-bob'] as const;
const INVALID = texts`token-of-nobody | TOKEN-OF-ANN | token-of-an | token-of-ann%20 | "token-of-ann"`;

/** A request, or the handshake of a socket. */
export interface BrowserCase {
  readonly kind: 'request' | 'ws' | 'fields';
  readonly method: string;
  /** Header lines in their order, but for those of the handshake itself. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  /**
   * Of `fields`: the object that the client sends over the socket before it opens (`auth` of socket.io,
   * `connectionParams` of graphql-ws).
   */
  readonly fields: unknown;
}

type Line = readonly [name: string, value: string];

const token = weighted(
  [5, fc.constantFrom<string[]>(...VALID)],
  [1, fc.constantFrom<string[]>(...INVALID, '', ' ', 'a b', 'a,b', 'ä', '\t')],
);

/** A name as anyone may write it: the case of its letters does not matter. */
const spelled = (name: string): fc.Arbitrary<string> =>
  weighted([6, fc.constant(name)], [1, fc.constantFrom(name.toLowerCase(), name.toUpperCase())]);
const line = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Line> =>
  fc.tuple(spelled(name), value);

const cookieName = weighted(
  [8, fc.constant(COOKIE)],
  [1, fc.constantFrom(...texts`SID | sid2 | xsid | \x20sid | sid\x20 | __Host-sid | \u00a0sid | sid=sid`)],
);
const pair = fc.tuple(cookieName, token).map(([name, value]) => `${name}=${value}`);
const cookie = weighted(
  [6, pair],
  [
    2,
    fc
      .array(fc.oneof(pair, fc.constantFrom(...texts`theme=dark | ∅ | sid | = | \x20`)), { maxLength: 3 })
      .chain((pairs) => fc.constantFrom(';', '; ', ' ;', ', ').map((glue) => pairs.join(glue))),
  ],
);

const ORIGINS = texts`https://app.example.com:8443 | http://app.example.com:8443 | https://app.example.com |
https://APP.example.com:8443 | HTTPS://app.example.com:8443 | https://evil.example.net |
https://app.example.com.evil.net | https://evil.net#app.example.com:8443 |
https://evil.net/app.example.com:8443 | https://app.example.com:8443@evil.net | https://evil.net:8443 |
https://app.example.com:8444 | https://sub.app.example.com:8443 | https://front.example.com:443 | null |
∅ | \x20 | * | file:// | capacitor://localhost | chrome-extension://abc | https:// |
https://front.example.com. | http://front.example.com | https://app.example.com:8443/ |
https://app.example.com:08443 | app.example.com:8443 | //app.example.com:8443 |
https://app.example.com:8443, https://evil.net`;
const origin = weighted(
  [3, fc.constant('https://app.example.com:8443')],
  [2, fc.constant(TRUSTED)],
  [5, fc.constantFrom(...ORIGINS)],
);
const site = fc.constantFrom(
  ...texts`same-origin | same-origin | none | cross-site | same-site | cross-site | Same-Origin | same-origin;a=b |
∅ | \x20 | "same-origin" | same-origin, cross-site | 1`,
);
const mode = fc.constantFrom(...texts`cors | navigate | no-cors | websocket | WebSocket | ∅`);
const other: fc.Arbitrary<Line> = fc.oneof(
  line('X-Forwarded-Host', fc.constantFrom('evil.example.net', 'app.example.com:8443')),
  line('X-Forwarded-Proto', fc.constantFrom('http', 'https')),
  line('Forwarded', fc.constant('host=evil.example.net;proto=https')),
  line('Referer', fc.constantFrom('https://app.example.com:8443/page', 'https://evil.example.net/')),
  line('X-HTTP-Method-Override', fc.constantFrom('GET', 'POST')),
  line('__proto__', fc.constant('x')),
  line('constructor', fc.constant('x')),
);

/** One of these lines, several, or most often none. */
const some = (weight: number, drawn: fc.Arbitrary<Line>): fc.Arbitrary<Line[]> =>
  weighted(
    [weight, fc.constant<Line[]>([])],
    [4, drawn.map((one) => [one])],
    [1, fc.array(drawn, { minLength: 2, maxLength: 3 })],
  );

const host = weighted(
  [16, fc.constant(HOST)],
  [
    3,
    fc.constantFrom(
      ...texts`app.example.com | APP.EXAMPLE.COM:8443 | evil.example.net | front.example.com | app.example.com:443 |
localhost | x@app.example.com:8443 | app.example.com:8443/evil`,
    ),
  ],
);

const lines = fc
  .tuple(
    some(2, line(HEADER, token)),
    weighted(
      [5, line('Cookie', cookie).map((one) => [one])],
      [1, fc.array(line('Cookie', cookie), { maxLength: 2 })],
    ),
    some(3, line('Origin', origin)),
    some(4, line('Sec-Fetch-Site', site)),
    some(12, line('Sec-Fetch-Mode', mode)),
    some(16, other),
    host.map((value): Line[] => [['Host', value]]),
  )
  .chain((groups) => fc.shuffledSubarray(groups.flat(), { minLength: groups.flat().length }));

const fieldName = weighted(
  [6, fc.constantFrom('token', HEADER, HEADER.toLowerCase(), HEADER.toUpperCase(), 'TOKEN')],
  [
    3,
    fc.constantFrom(
      ...texts`cookie | Cookie | origin | Origin | host | sec-fetch-site | Sec-Fetch-Mode | rawHeaders | headers |
method | __proto__ | handshakeFields | authorization | x-auth-iv`,
    ),
  ],
);
const fieldValue = weighted(
  [5, token],
  [
    3,
    fc.constantFrom<unknown[]>(
      `${COOKIE}=${VALID[0]}`,
      'https://app.example.com:8443',
      TRUSTED,
      HOST,
      'same-origin',
      'none',
      'GET',
    ),
  ],
  [
    1,
    fc.constantFrom<unknown[]>(
      null,
      0,
      1,
      true,
      {},
      [],
      [VALID[0]],
      [VALID[0], VALID[1]],
      { token: VALID[0] },
      { toString: VALID[0] },
    ),
  ],
  [1, fc.jsonValue({ maxDepth: 2 })],
);
const pairsOfFields = fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 4 });
/** As an object with its own `__proto__`, as JSON gives it. */
const fields = weighted(
  [
    12,
    pairsOfFields.map((pairs): unknown =>
      JSON.parse(
        `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
      ),
    ),
  ],
  [
    1,
    fc.constantFrom<unknown[]>(null, '', 'token', VALID[0], 7, true, [], [VALID[0]], [['token', VALID[0]]]),
  ],
  [
    1,
    token.map((value): unknown => ({
      ...Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`field-${index}`, index])),
      token: value,
    })),
  ],
  [1, fc.jsonValue({ maxDepth: 3 })],
);

/**
 * Generates requests of browsers and of other clients: mostly as browsers send them, with occasional errors.
 */
export const browserCase: fc.Arbitrary<BrowserCase> = fc.record({
  kind: fc.constantFrom<BrowserCase['kind'][]>('request', 'request', 'ws', 'fields'),
  method: fc.constantFrom(...texts`GET | HEAD | OPTIONS | POST | PUT | PATCH | DELETE`),
  lines,
  fields,
});

import { describe, expect, it } from '@jest/globals';
import axios, { AxiosHeaders, type AxiosAdapter, type AxiosInstance } from 'axios';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { currentCall, runInCall } from './current-call.js';
import { SessionContext } from './session-context.js';
import type { Admission } from '../guard/guarded-request.js';
import type { RelayTargets } from './relay-origins.js';
import { SessionRelay } from './session-relay.js';

const PAYROLL = 'https://payroll.internal';
const SLIPS = 'https://slips.internal';

const ANN = admissionOf({ session: { token: 'token', authIv: 'iv' } });
const OF_PARTNERS = admissionOf({ session: { token: 'token', authIv: undefined }, authority: 'partners' });
const ANN_HEADERS = { 'X-AUTH-TOKEN': 'token', 'X-AUTH-IV': 'iv' };

const inCall = <Result>(admission: Admission | undefined, run: () => Result): Result =>
  runInCall({ admission }, run);
const relayOf = (): SessionRelay => new SessionRelay(new SessionContext(currentCall));

/** An axios instance whose requests end before the network. */
function client(): { readonly instance: AxiosInstance; readonly tokenTo: (url: string) => Promise<unknown> } {
  const adapter: AxiosAdapter = (config) =>
    Promise.resolve({ data: '', status: 200, statusText: '', headers: new AxiosHeaders(), config });
  const instance = axios.create({ adapter });
  return {
    instance,
    tokenTo: async (url) => (await instance.get(url)).config.headers['X-AUTH-TOKEN'] as unknown,
  };
}

describe('an axios instance', () => {
  it('sends the session of the current call to its targets, and to no others', async () => {
    const { instance, tokenTo } = client();
    relayOf().attachTo(instance, { to: [PAYROLL] });
    const tokens = (): Promise<unknown[]> => Promise.all([tokenTo(`${PAYROLL}/a`), tokenTo(`${SLIPS}/a`)]);
    expect(await inCall(ANN, tokens)).toEqual(['token', undefined]);
    expect(await inCall(admissionOf(), tokens)).toEqual([undefined, undefined]);
    expect(await tokens()).toEqual([undefined, undefined]);
  });

  it('has the targets of all calls, and each instance its own', async () => {
    const relay = relayOf();
    const [first, second] = [client(), client()];
    relay.attachTo(first.instance, { to: [PAYROLL] });
    relay.attachTo(second.instance, { to: ['https://other.internal'] });
    relay.attachTo(first.instance, { to: ['https://further.internal', SLIPS] });
    const tokensOf = (each: typeof first): Promise<unknown[]> =>
      inCall(ANN, () =>
        Promise.all(
          [PAYROLL, SLIPS, 'https://further.internal', 'https://other.internal'].map((url) =>
            each.tokenTo(url),
          ),
        ),
      );
    expect(await tokensOf(first)).toEqual(['token', 'token', 'token', undefined]);
    expect(await tokensOf(second)).toEqual([undefined, undefined, undefined, 'token']);
  });

  it('sends each session to the targets of its own authority', async () => {
    const { instance, tokenTo } = client();
    const relay = relayOf();
    relay.attachTo(instance, { to: [PAYROLL] });
    relay.attachTo(instance, { to: [SLIPS], authority: 'partners' });
    const tokens = (): Promise<unknown[]> => Promise.all([tokenTo(PAYROLL), tokenTo(SLIPS)]);
    expect([await inCall(ANN, tokens), await inCall(OF_PARTNERS, tokens)]).toEqual([
      ['token', undefined],
      [undefined, 'token'],
    ]);
  });

  it.each([
    undefined,
    null,
    {},
    { interceptors: null },
    { interceptors: {} },
    { interceptors: { request: {} } },
    'axios',
  ])('is required: %j', (instance) => {
    const attach = (): void => relayOf().attachTo(instance as unknown as AxiosInstance, { to: [PAYROLL] });
    expect(attach).toThrow(InvalidConfigurationError);
    expect(attach).toThrow(/^SessionRelay\.attachTo\(\): the first argument must be an axios instance/);
  });

  it('is not attached without targets that are valid', async () => {
    const { instance, tokenTo } = client();
    const relay = relayOf();
    expect(() => relay.attachTo(instance, { to: [PAYROLL, 'http://payroll.internal'] })).toThrow(
      /^SessionRelay\.attachTo\(\): to\[1\]/,
    );
    expect(await inCall(ANN, () => tokenTo(PAYROLL))).toBeUndefined();
    expect(() => inCall(ANN, () => relay.headersFor(PAYROLL))).toThrow('no origins are known');
  });
});

describe('the headers for a URL', () => {
  const targets: RelayTargets = { to: [PAYROLL] };

  it.each<[string, Admission | undefined, string | URL, RelayTargets, object]>([
    ['a target', ANN, `${PAYROLL}/slips`, targets, ANN_HEADERS],
    ['a URL object of a target', ANN, new URL(PAYROLL), targets, ANN_HEADERS],
    ['another origin', ANN, SLIPS, targets, {}],
    ['no URL', ANN, 'payroll.internal', targets, {}],
    ['a target of another authority', OF_PARTNERS, PAYROLL, targets, {}],
    [
      'a target of its authority',
      OF_PARTNERS,
      PAYROLL,
      { ...targets, authority: 'partners' },
      { 'X-AUTH-TOKEN': 'token' },
    ],
    ['a target, in a call without a session', admissionOf(), PAYROLL, targets, {}],
    ['a target, in a call that no guard has admitted', undefined, PAYROLL, targets, {}],
  ])('are those of the session for a target only: %s', (_case, admission, url, to, headers) => {
    expect(inCall(admission, () => relayOf().headersFor(url, to))).toStrictEqual(headers);
  });

  it('are those for the targets of all axios instances, unless other targets are given', () => {
    const relay = relayOf();
    relay.attachTo(client().instance, { to: [PAYROLL] });
    relay.attachTo(client().instance, { to: [SLIPS] });
    inCall(ANN, () => {
      expect([PAYROLL, SLIPS, 'https://other.internal'].map((url) => relay.headersFor(url))).toEqual([
        ANN_HEADERS,
        ANN_HEADERS,
        {},
      ]);
      expect(relay.headersFor(SLIPS, targets)).toEqual({});
    });
  });

  it('need targets, which are valid', () => {
    const relay = relayOf();
    expect(() => relay.headersFor(PAYROLL)).toThrow(InvalidConfigurationError);
    expect(() => relay.headersFor(PAYROLL)).toThrow(/^SessionRelay\.headersFor\(\): no origins are known\./);
    expect(() => relay.headersFor(PAYROLL, { to: [] })).toThrow(
      /^SessionRelay\.headersFor\(\): to must be a list/,
    );
  });
});

describe('the metadata for messages', () => {
  it('are the headers of the session under lower-case names', () => {
    expect(inCall(ANN, () => relayOf().metadata())).toStrictEqual({
      'x-auth-token': 'token',
      'x-auth-iv': 'iv',
    });
  });

  it('are those of a session of the named authority only', () => {
    const relay = relayOf();
    expect(inCall(OF_PARTNERS, () => [relay.metadata(), relay.metadata('partners')])).toStrictEqual([
      {},
      { 'x-auth-token': 'token' },
    ]);
    expect(inCall(ANN, () => [relay.metadata('default'), relay.metadata('partners')])).toStrictEqual([
      { 'x-auth-token': 'token', 'x-auth-iv': 'iv' },
      {},
    ]);
  });

  it('are none without a session', () => {
    const relay = relayOf();
    expect([relay.metadata(), inCall(admissionOf(), () => relay.metadata())]).toStrictEqual([{}, {}]);
  });
});

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from './settings.js';

const PROXY = { host: 'proxy.example.com', port: 3128 };

function read(http?: object) {
  const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
  return readSettings({ ...required, ...(http && { http }) }).http;
}

function expectRefused(http: object, message: string): void {
  expect(() => read(http)).toThrow(new Error(`SessionAuthModule: ${message}.`));
}

describe('an agent', () => {
  it('is a setting for its protocol', () => {
    const [httpAgent, httpsAgent] = [new HttpAgent(), new HttpsAgent()];
    expect(read({ httpAgent })).toMatchObject({ httpAgent, httpsAgent: undefined });
    expect(read({ httpsAgent })).toMatchObject({ httpAgent: undefined, httpsAgent });
    expect(read({ httpAgent, httpsAgent })).toMatchObject({ httpAgent, httpsAgent });
  });

  it.each([['httpAgent'], ['httpsAgent']])('stops the application if it is none: http.%s', (option) => {
    for (const agent of [null, true, 'agent', {}, HttpAgent, () => new HttpAgent()]) {
      expectRefused(
        { [option]: agent },
        `http.${option} must be an agent of node:http or node:https. Give it one, or leave it out`,
      );
    }
  });

  it('stops the application if it is for the other protocol', () => {
    expectRefused(
      { httpAgent: new HttpsAgent() },
      'http.httpAgent is an agent for https. Set it as http.httpsAgent',
    );
    expectRefused(
      { httpsAgent: new HttpAgent() },
      'http.httpsAgent is an agent for http. Set it as http.httpAgent',
    );
  });

  it('serves both protocols if it determines its protocol for each call, as agents of proxies do', () => {
    const ignored: string[] = [];
    class ProxyAgent extends HttpAgent {
      get protocol(): string {
        return 'http:';
      }
      set protocol(given: string) {
        ignored.push(given);
      }
    }
    const agent = new ProxyAgent();
    expect(read({ httpsAgent: agent, httpAgent: agent })).toMatchObject({
      httpsAgent: agent,
      httpAgent: agent,
    });
  });

  it('stops the application if its class extends that of the other protocol', () => {
    class OwnAgent extends HttpAgent {}
    expectRefused(
      { httpsAgent: new OwnAgent() },
      'http.httpsAgent is an agent for http. Set it as http.httpAgent',
    );
  });

  it('stops the application beside a proxy', () => {
    for (const agents of [{ httpAgent: new HttpAgent() }, { httpsAgent: new HttpsAgent() }]) {
      expectRefused({ ...agents, proxy: PROXY }, 'http.proxy cannot go with an agent. Set one of the two');
    }
  });
});

describe('a proxy', () => {
  it.each([
    [PROXY],
    [{ host: '127.0.0.1', port: 1 }],
    [{ host: '[::1]', port: 65_535 }],
    [{ ...PROXY, protocol: 'http' }],
    [{ ...PROXY, protocol: 'http:' }],
    [{ ...PROXY, protocol: 'https' }],
    [{ ...PROXY, protocol: 'https:' }],
    [{ ...PROXY, auth: { username: 'ann', password: 'secret' } }],
  ])('is a setting as it is: %j', (proxy) => {
    expect(read({ proxy }).proxy).toBe(proxy);
  });

  it.each([
    [{}],
    [{ host: 'proxy.example.com' }],
    [{ port: 3128 }],
    [{ ...PROXY, host: '' }],
    [{ ...PROXY, host: 'a b' }],
    [{ ...PROXY, host: 7 }],
    [{ ...PROXY, host: ['proxy.example.com'] }],
    [{ ...PROXY, host: '::1' }],
    [{ ...PROXY, host: 'http://proxy.example.com' }],
    [{ ...PROXY, host: 'proxy.example.com/path' }],
    [{ ...PROXY, host: 'proxy.example.com?' }],
    [{ ...PROXY, host: 'proxy.example.com#' }],
    [{ ...PROXY, host: 'proxy.example.com\\' }],
    [{ ...PROXY, host: 'user@proxy.example.com' }],
    [{ ...PROXY, host: 'proxy.\texample.com' }],
    [{ ...PROXY, port: '3128' }],
    [{ ...PROXY, port: 0 }],
    [{ ...PROXY, port: 31.28 }],
    [{ ...PROXY, port: -1 }],
    [{ ...PROXY, port: 65_536 }],
    [{ ...PROXY, protocol: '' }],
    [{ ...PROXY, protocol: 'ftp' }],
    [{ ...PROXY, protocol: 'xhttp' }],
    [{ ...PROXY, protocol: 'httpx' }],
    [{ ...PROXY, protocol: 'httpss' }],
    [{ ...PROXY, protocol: 'https::' }],
    [{ ...PROXY, protocol: null }],
    [{ ...PROXY, protocol: ['http'] }],
  ])('stops the application if it is %j', (proxy) => {
    expectRefused(
      { proxy },
      "http.proxy must have a host and a port. Give it { host: 'proxy.example.com', port: 3128 }",
    );
  });

  it.each([
    [null],
    [''],
    ['user:password'],
    [{}],
    [{ username: 'app' }],
    [{ password: 'secret' }],
    [{ username: 7, password: 'secret' }],
  ])('stops the application if its credentials are %j', (auth) => {
    const remedy = 'Give it { username, password }, or leave it out';
    expectRefused(
      { proxy: { ...PROXY, auth } },
      `http.proxy.auth must have a username and a password. ${remedy}`,
    );
  });

  it('stops the application if it is no object, or has another option', () => {
    const known = "'protocol', 'host', 'port', 'auth'";
    for (const proxy of [
      null,
      false,
      'http://proxy.example.com:3128',
      3128,
      [],
      ['proxy.example.com', 3128],
    ]) {
      expectRefused({ proxy }, `http.proxy must be an object. It may hold ${known}`);
    }
    expectRefused(
      { proxy: { ...PROXY, hostname: 'proxy' } },
      `http.proxy.hostname is not an option. Valid options: ${known}`,
    );
  });
});

describe('the option http', () => {
  it('is the defaults if it is left out, or empty', () => {
    const defaults = {
      httpAgent: undefined,
      httpsAgent: undefined,
      proxy: undefined,
      maxResponseBytes: 65_536,
      maxTokenLength: 4_096,
    };
    expect([read(), read({}), read({ proxy: undefined, httpAgent: undefined })]).toEqual([
      defaults,
      defaults,
      defaults,
    ]);
  });
});

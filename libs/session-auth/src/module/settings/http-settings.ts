import { Agent } from 'node:http';
import type { AxiosProxyConfig } from 'axios';
import { integerOption, invalidOption, isGroup, rejectUnknownOptions } from './option-checks.js';
import type { SessionAuthHttpOptions } from '../options/http-options.js';
import { DEFAULTS } from './defaults.js';

/** The validated transport options, with defaults applied. */
export interface HttpSettings {
  readonly httpAgent: Agent | undefined;
  readonly httpsAgent: Agent | undefined;
  readonly proxy: AxiosProxyConfig | undefined;
  readonly maxResponseBytes: number;
  readonly maxTokenLength: number;
}

const OPTIONS = ['httpAgent', 'httpsAgent', 'proxy', 'maxResponseBytes', 'maxTokenLength'];

/** Validates the transport options. @throws InvalidConfigurationError naming the first invalid option */
export function readHttpSettings(http: SessionAuthHttpOptions = {}): HttpSettings {
  rejectUnknownOptions('http', http, OPTIONS);
  const { httpAgent, httpsAgent, proxy } = http;
  if (proxy !== undefined && (httpAgent ?? httpsAgent))
    invalidOption('http.proxy', 'cannot go with an agent', 'Set one of the two');
  return {
    httpAgent: readAgent('http.httpAgent', httpAgent),
    httpsAgent: readAgent('http.httpsAgent', httpsAgent),
    proxy: readProxy(proxy),
    maxResponseBytes: integerOption('http.maxResponseBytes', http.maxResponseBytes, {
      min: 1,
      max: 16_777_216,
      fallback: DEFAULTS.http.maxResponseBytes,
    }),
    maxTokenLength: integerOption('http.maxTokenLength', http.maxTokenLength, {
      min: 1,
      max: 65_536,
      fallback: DEFAULTS.http.maxTokenLength,
    }),
  };
}

function readAgent(option: 'http.httpAgent' | 'http.httpsAgent', agent: unknown): Agent | undefined {
  if (agent === undefined) return undefined;
  if (!(agent instanceof Agent))
    return invalidOption(
      option,
      'must be an agent of node:http or node:https',
      'Give it one, or leave it out',
    );
  const [other, otherOption] =
    option === 'http.httpAgent' ? ['https', 'http.httpsAgent'] : ['http', 'http.httpAgent'];
  if (protocolOf(agent) === `${other}:`)
    invalidOption(option, `is an agent for ${other}`, `Set it as ${otherOption}`);
  return agent;
}

/**
 * Returns the only protocol of an agent: Node.js throws at each call for another. Agents of proxies have no
 * own one, and serve both.
 */
function protocolOf(agent: Agent): unknown {
  return Object.getOwnPropertyDescriptor(agent, 'protocol')?.value;
}

function readProxy(proxy: unknown): AxiosProxyConfig | undefined {
  if (proxy === undefined) return undefined;
  rejectUnknownOptions('http.proxy', proxy, ['protocol', 'host', 'port', 'auth']);
  const { protocol = 'http', host, port, auth } = proxy as Record<string, unknown>;
  if (!isAddress(protocol, host, port))
    return invalidOption(
      'http.proxy',
      'must have a host and a port',
      "Give it { host: 'proxy.example.com', port: 3128 }",
    );
  if (auth !== undefined && !isCredentials(auth))
    return invalidOption(
      'http.proxy.auth',
      'must have a username and a password',
      'Give it { username, password }, or leave it out',
    );
  return proxy as AxiosProxyConfig;
}

/** A host with a scheme, a path or a user in it would become another address. */
const HOST = /^[^\s/?#@\\]+$/;

function isAddress(protocol: unknown, host: unknown, port: unknown): boolean {
  if (typeof protocol !== 'string' || typeof host !== 'string' || !Number.isInteger(port)) return false;
  return (
    /^https?:?$/.test(protocol) &&
    HOST.test(host) &&
    port !== 0 &&
    URL.canParse(`http://${host}:${String(port)}`)
  );
}

function isCredentials(auth: unknown): boolean {
  if (!isGroup(auth)) return false;
  const { username, password } = auth as Record<string, unknown>;
  return typeof username === 'string' && typeof password === 'string';
}

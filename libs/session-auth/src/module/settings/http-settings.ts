import { Agent } from 'node:http';
import type { AxiosProxyConfig } from 'axios';
import { integerOption, rejectUnknownOptions, invalidOption } from './option-checks.js';
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
  if (proxy !== undefined && (httpAgent ?? httpsAgent)) invalidOption('http.proxy', 'cannot go with an agent', 'Set one of the two');
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

function readAgent(option: string, agent: unknown): Agent | undefined {
  if (agent === undefined || agent instanceof Agent) return agent;
  return invalidOption(option, 'must be an agent of node:http or node:https', 'Give it one, or leave it out');
}

function readProxy(proxy: unknown): AxiosProxyConfig | undefined {
  if (proxy === undefined) return undefined;
  rejectUnknownOptions('http.proxy', proxy, ['protocol', 'host', 'port', 'auth']);
  const { protocol = 'http', host, port } = proxy as Record<string, unknown>;
  const valid =
    typeof host === 'string' &&
    Number.isInteger(port) &&
    /^https?:?$/.test(String(protocol)) &&
    URL.canParse(`http://${host}:${String(port)}`);
  return valid
    ? (proxy as AxiosProxyConfig)
    : invalidOption('http.proxy', 'must have a host and a port', "Give it { host: 'proxy.example.com', port: 3128 }");
}

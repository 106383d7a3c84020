import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { AxiosProxyConfig } from 'axios';

/** Transport to the session service. Proxy variables of the environment are ignored: set `proxy`. */
export interface SessionAuthHttpOptions {
  /** Agent for an http base URL, instead of the built-in pool. @default none */
  readonly httpAgent?: HttpAgent;
  /**
   * Agent for an https base URL, instead of the built-in pool: for client certificates (mTLS) or a private
   * certificate authority. @default none
   */
  readonly httpsAgent?: HttpsAgent;
  /** A forward proxy: host, port, protocol and credentials, as in axios. Excludes an agent. @default none */
  readonly proxy?: AxiosProxyConfig;
  /** Size limit of a response body, in bytes. 1 to 16 777 216. @default 65536 */
  readonly maxResponseBytes?: number;
  /** Size limit of a token and of an IV, in bytes. 1 to 65 536. @default 4096 */
  readonly maxTokenLength?: number;
}

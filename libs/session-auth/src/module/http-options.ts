import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { AxiosProxyConfig } from 'axios';

/** How the service is reached. Proxies named in the environment are ignored unless `proxy` is set. */
export interface SessionAuthHttpOptions {
  /** Agent for an http base URL, in place of the built-in pool. @default none */
  readonly httpAgent?: HttpAgent;
  /** Agent for an https base URL, in place of the built-in pool: client certificates (mTLS), own authorities. @default none */
  readonly httpsAgent?: HttpsAgent;
  /** A forward proxy: host, port, protocol and credentials, as in axios. Not together with an agent. @default none */
  readonly proxy?: AxiosProxyConfig;
  /** Bytes that a reply's body may have. 1 to 16 777 216. @default 65536 */
  readonly maxResponseBytes?: number;
  /** Bytes that a token or an IV may have. 1 to 65 536. @default 4096 */
  readonly maxTokenLength?: number;
}

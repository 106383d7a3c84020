import { AFFECTED, type CauseName } from '../../contract/causes.js';
import type { CallMessage } from '../../contract/diagnostics.js';

/** Remedies, by the code of Node.js for a connection that failed. */
const CHECKS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'that it runs, and the host and the port in baseUrl',
  ENOTFOUND: 'the host in baseUrl, and the DNS of this host',
  EAI_AGAIN: 'the DNS of this host',
};
const CHECK_CONNECTION = 'that it runs and speaks HTTP, that nothing cuts its connections, and baseUrl';
const CHECK_CERTIFICATE = 'its certificate, and NODE_EXTRA_CA_CERTS or http.httpsAgent';
const CHECK_HANDSHAKE = 'that it speaks https on the port in baseUrl, and its versions of TLS';

const TIME_LIMITS = {
  user_details: 'timeoutMs',
  sign_in: 'signInTimeoutMs',
  sign_out: 'signOutTimeoutMs',
} as const;

/**
 * Returns the particulars of a call that failed, for the line of its cause.
 * @param met the code of its connection, or its status; empty if there is none
 */
export function detailsOf(cause: CauseName, operation: CallMessage['operation'], met: string): string[] {
  const calls = AFFECTED[operation];
  const isCheck = operation === 'user_details';
  switch (cause) {
    case 'service unreachable':
      return [calls, `${met && ` with ${met}`}. Check ${CHECKS[met] ?? CHECK_CONNECTION}.`];
    case 'TLS failure':
      return [met, /CERT|SELF_SIGNED|UNABLE_TO/.test(met) ? CHECK_CERTIFICATE : CHECK_HANDSHAKE];
    case 'service too slow':
      return [calls, TIME_LIMITS[operation]];
    case 'too many calls':
      return [calls, isCheck ? 'maxInFlight' : 'maxSignIns'];
    case 'throttled':
      return [calls, operation === 'sign_in' ? '429' : '503', isCheck ? ', or make fewer: cache' : ''];
    default:
      return [calls, met || 'with an error'];
  }
}

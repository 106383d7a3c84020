import { DEFAULTS } from '../../../module/settings/defaults.js';
import type { ReplyAnswer } from '../../calls/answer.js';
import type { Examination } from '../examination.js';

/** The time limit of a check, as a multiple of the slowest reply. */
const MARGIN = 3;
const STEP_MS = 500;
const MAX_TIMEOUT_MS = 300_000;
const DRIP_MS = 250;

/** Reports how fast user_details replies over kept connections, and which `timeoutMs` follows. */
export function examineLatency({ calls, findings, options }: Examination, replies: readonly ReplyAnswer[]): void {
  const times = replies.map(({ totalMs }) => totalMs).sort((a, b) => a - b);
  const cold = calls.answers.find((answer) => answer.kind === 'reply' && !answer.reused)?.totalMs ?? 0;
  const slowest = Math.max(cold, ...times);
  const text = `user_details: p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))} of ${times.length} calls; a new connection ${ms(cold)}.`;
  const needed = Math.min(MAX_TIMEOUT_MS, Math.ceil((MARGIN * slowest) / STEP_MS) * STEP_MS);
  if (needed <= DEFAULTS.timeoutMs) {
    findings.ok('latency', text);
    return;
  }
  options.timeoutMs = needed;
  findings.warn('latency', `${text} The default timeoutMs of ${DEFAULTS.timeoutMs} is short for it.`);
}

/** Reports whether connections are kept, and whether bodies arrive slowly. */
export function examineConnections({ calls, findings }: Examination): void {
  const replies = calls.answers.filter((answer) => answer.kind === 'reply');
  const resets = calls.answers.filter((answer) => answer.kind === 'failure' && answer.reused && answer.code === 'ECONNRESET').length;
  if (resets > 0)
    findings.warn(
      'keep-alive',
      'The service closes kept connections without a word. The library retries a check then; set retry no lower than 2 attempts.',
    );
  else if (!replies.some(({ reused }) => reused))
    findings.warn('keep-alive', 'The service, or a proxy, closes the connection after each reply. Each check pays for a new one.');
  else findings.ok('keep-alive', 'Connections are kept between calls.');
  const slowest = Math.max(0, ...replies.map(({ firstByteMs, totalMs }) => totalMs - firstByteMs));
  if (slowest > DRIP_MS) findings.warn('slow-body', `A body arrived ${ms(slowest)} after its head. A check waits for the whole body.`);
}

/** Reports the size of replies, and which `http.maxResponseBytes` follows. */
export function examineSize({ findings, options }: Examination, replies: readonly ReplyAnswer[]): void {
  const bytes = Math.max(0, ...replies.map((reply) => reply.bytes));
  const { maxResponseBytes } = DEFAULTS.http;
  if (bytes <= maxResponseBytes) {
    findings.ok('response-size', `The record has ${bytes} bytes.`);
    return;
  }
  options.http = { ...options.http, maxResponseBytes: 2 ** Math.ceil(Math.log2(2 * bytes)) };
  findings.warn('response-size', `The record has ${bytes} bytes, more than the default http.maxResponseBytes of ${maxResponseBytes}.`);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

import { type Answer, tokenIn } from '../calls/answer.js';
import type { Examination } from './examination.js';

/** Reports whether replies repeat a secret: logs and caches on the way would keep it. The record of a 200 holds the token by the interface. */
export function examineLeaks({ calls, findings, secrets }: Examination): void {
  const texts = calls.answers.map((answer) => textOf(answer));
  if (texts.some((text) => secrets.areIn(text)))
    findings.warn(
      'secrets-in-replies',
      'Replies repeat the key, the password, a token or an IV. Logs and caches on the way would keep it.',
    );
}

function textOf(answer: Answer): string {
  if (answer.kind === 'failure') return '';
  const isRecord = answer.status === 200 && tokenIn(answer) !== undefined;
  return `${JSON.stringify(answer.headers)}${isRecord ? '' : (answer.body?.toString('latin1') ?? '')}`;
}

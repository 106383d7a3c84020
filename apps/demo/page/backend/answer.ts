import { type Exchange } from './exchange.js';

const ANSWERS: Readonly<Record<string, string>> = {
  service: 'The session service answered, just now.',
  joined: 'The session service answered, just now, in a call that another request had made.',
  breaker: 'No call was made: the breaker is open.',
  none: 'The session service gave no usable answer.',
};

/** Returns the source and the age of a reply's verdict, in words. */
export function answerOf({ answeredBy, status }: Exchange): string {
  if (status === 0) return '';
  if (answeredBy === undefined) return 'No check was made.';
  const [who = '', ...parameters] = answeredBy.split('; ');
  if (who !== 'cache') return ANSWERS[who] ?? '';
  const age = parameters.find((parameter) => parameter.startsWith('age='))?.slice(4);
  const stale = parameters.includes('stale')
    ? ' It has expired, and is used because the service is unavailable.'
    : '';
  return `The cache answered${age === undefined ? '' : `, with what the service said ${age} s ago`}.${stale}`;
}

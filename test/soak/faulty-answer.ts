import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TIMEOUT_MS } from './settings.js';

/** A reply of a service without a fault. */
export interface SoundReply {
  readonly status: number;
  readonly body: string;
}

type Answer = (response: ServerResponse, sound: SoundReply, socket: Socket) => void;

export function answerSoundly(response: ServerResponse, { status, body }: SoundReply): void {
  const type = body === '' ? {} : { 'content-type': 'application/json' };
  response.writeHead(status, { ...type, 'content-length': Buffer.byteLength(body) }).end(body);
}

const oneOf = <Item>(...items: Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];

/** The faults of an answer. The service has carried out the request in each case. */
const ANSWERS = {
  slow: (response, sound) =>
    void setTimeout(() => answerSoundly(response, sound), Math.random() * 1.5 * TIMEOUT_MS),
  silence: () => undefined,
  'no HTTP': (_response, _sound, socket) => void socket.end('\u0000\u0001 hello, this is no HTTP\r\n\r\n'),
  'no JSON': (response, { status, body }) =>
    answerSoundly(response, { status, body: body.slice(0, -2) + '<br>' }),
  empty: (response, { status }) => answerSoundly(response, { status, body: '' }),
  'cut off': (response, { status, body }) => {
    response.writeHead(status === 200 ? 200 : 500, { 'content-length': Buffer.byteLength(body) + 100 });
    response.write(body, () => response.destroy());
  },
  reset: (_response, _sound, socket) => socket.resetAndDestroy(),
  'error status': (response) => {
    const status = oneOf(302, 408, 500, 502, 503, 504) ?? 500;
    response.writeHead(status, { location: '/elsewhere' }).end('<h1>Sorry</h1>');
  },
  'too many requests': (response) => {
    const wait = oneOf('0', '7', '100000', '-3', 'soon', 'Fri, 31 Dec 2117 23:59:59 GMT') ?? '';
    response.writeHead(429, { 'retry-after': wait }).end();
  },
} satisfies Record<string, Answer>;

export type AnswerFault = keyof typeof ANSWERS;
export const ANSWER_FAULTS = Object.keys(ANSWERS) as AnswerFault[];

/** Answers with the fault; `anything` is another one each time, or none. */
export function answerFaultily(
  fault: AnswerFault | 'anything',
  response: ServerResponse,
  sound: SoundReply,
  socket: Socket,
): void {
  const chosen = fault === 'anything' ? oneOf(undefined, ...ANSWER_FAULTS) : fault;
  const answer: Answer = chosen === undefined ? answerSoundly : ANSWERS[chosen];
  answer(response, sound, socket);
}

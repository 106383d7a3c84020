import { type SceneName, type SceneResult } from '../../src/console/messages.js';
import { count, counted, duration } from '../text.js';

/** The result of a scene: one figure, its caption, and further measurements. */
export interface Ending {
  readonly figure: string;
  readonly caption: string;
  readonly detail: string;
}

/** Texts of a scene on the page; the demo runs it. */
export interface Script {
  readonly title: string;
  readonly question: string;
  readonly steps: readonly [string, string, string];
  readonly end: (result: SceneResult) => Ending;
}

/** The scenes, in the order of the page. */
export const SCRIPTS: Readonly<Record<SceneName, Script>> = {
  stampede: {
    title: 'A stampede',
    question: '500 requests with one session, at once. How many calls?',
    steps: [
      'One user signs in. The cache is off.',
      '500 requests present the session at once.',
      'They share the call of the first.',
    ],
    end: ({ calls, requests: { joined, asked, cached }, measured: { tookMs = 0 } }) => ({
      figure: counted(calls, 'call'),
      caption: `to the session service, for ${count(joined + asked + cached)} admitted requests`,
      detail: `${counted(joined, 'request')} shared the call of another. All had their reply after ${duration(tookMs)}.`,
    }),
  },
  outage: {
    title: 'The service goes down',
    question: 'It answers 500. How long do users wait?',
    steps: [
      'Three users, in 12 sessions, send 40 requests a second.',
      'The service fails, and the breaker opens.',
      'The service is back: one call tries it, and the breaker closes.',
    ],
    end: ({ calls, requests: { asked, turnedBack, unavailable }, measured: { medianMs = 0 } }) => ({
      figure: duration(medianMs),
      caption: 'to deny a request while the breaker was open (median)',
      detail: `Before the breaker opened, ${counted(unavailable, 'request')} failed, with ${counted(calls - asked, 'call')}: some shared a call, and some were tried twice. Then it denied ${count(turnedBack)} without a call.`,
    }),
  },
  'sign-out': {
    title: 'Signed out elsewhere',
    question: 'One session on two devices, cached. One signs out.',
    steps: [
      'A session is in use, and cached for five minutes.',
      'Another device signs it out.',
      'Its next requests are denied.',
    ],
    end: ({ requests: { cached }, measured: { later = 0, admitted = 0 } }) => ({
      figure: `${count(admitted)} of ${count(later)}`,
      caption: 'requests admitted after the sign-out',
      detail: `The cache had answered ${counted(cached, 'request')} of this session. The sign-out removed it from the cache.`,
    }),
  },
  junk: {
    title: 'A flood of junk',
    question: 'Hundreds of invented tokens. Do signed-in users notice?',
    steps: [
      'Three signed-in users are at work.',
      'Invented tokens arrive, in a lane of their own.',
      'The flood ends.',
    ],
    end: ({ measured: { junk = 0, known = 0, admitted = 0, beforeMs = 0, duringMs = 0 } }) => ({
      figure: `${count(admitted)} of ${count(known)}`,
      caption: 'requests of signed-in users admitted during the flood',
      detail: `They waited ${duration(beforeMs)} before the flood and ${duration(duringMs)} during ${count(junk)} invented tokens (medians): they have places of their own.`,
    }),
  },
  deploy: {
    title: 'Deploy under load',
    question: 'A new instance takes over. How many requests fail?',
    steps: [
      'Six sessions send 80 requests a second.',
      'A new instance of the backend starts and takes over.',
      'The old one completes its requests, and closes.',
    ],
    end: ({ requests, lost, measured: { asked = 0, refused = 0 } }) => ({
      figure: `${count(lost + refused)} of ${count(Object.values(requests).reduce((sum, number) => sum + number, lost))}`,
      caption: 'requests lost or refused',
      detail: `The new instance began with an empty cache, so ${counted(asked, 'request')} called the service again.`,
    }),
  },
  cache: {
    title: 'What a cache costs',
    question: 'A session ends without notice.',
    steps: [
      'A session is in use, and cached for 5 s.',
      'It ends at the service, without notice.',
      'Its cache entry expires, and it is denied.',
    ],
    end: ({ calls, measured: { workedOnMs = 0, admitted = 0, ttlMs = 0 } }) => ({
      figure: `${(workedOnMs / 1_000).toFixed(1)} s`,
      caption: 'the ended session still worked here',
      detail: `A cached session works until its entry expires, after ${ttlMs / 1_000} s at most. In return, ${counted(admitted, 'admitted request')} needed only ${counted(calls, 'call')}.`,
    }),
  },
};

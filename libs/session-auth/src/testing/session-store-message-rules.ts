import { deepEqual, equal } from 'node:assert/strict';
import type { StoreSubscriber } from '../contract/session-store.js';
import { BYTES, rule, until } from './session-store-rule.js';

/** The rules of messages. */
export const MESSAGE_RULES = [
  rule('brings a message to every instance that is subscribed, and to none that unsubscribed', async (one, other) => {
    const [first, second] = [new Inbox(), new Inbox()];
    const stops = [one.subscribe(first), other.subscribe(second)] as const;
    try {
      await until(() => first.isSubscribed && second.isSubscribed);
      await one.publish(BYTES);
      await until(() => first.messages.length > 0 && second.messages.length > 0);
      deepEqual([first.messages, second.messages], [[[...BYTES]], [[...BYTES]]]);
      await stops[1]();
      await other.publish(BYTES.subarray(1));
      await until(() => first.messages.length === 2);
      equal(second.messages.length, 1);
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  }),
  rule('tells that it is subscribed before the first message', async (one, other) => {
    const inbox = new Inbox();
    const stop = one.subscribe(inbox);
    try {
      await until(async () => {
        await other.publish(BYTES);
        return inbox.messages.length > 0;
      });
      equal(inbox.isEarly, false);
    } finally {
      await stop();
    }
  }),
];

class Inbox implements StoreSubscriber {
  readonly messages: number[][] = [];
  isSubscribed = false;
  /** Whether a message came while it was not subscribed. */
  isEarly = false;

  message(bytes: Uint8Array): void {
    this.isEarly ||= !this.isSubscribed;
    this.messages.push([...bytes]);
  }

  subscribed(): void {
    this.isSubscribed = true;
  }

  interrupted(): void {
    this.isSubscribed = false;
  }
}

import type { StoreSubscriber } from 'nestjs-session-auth/store';

/** Records the calls of a store to its subscriber, in order. */
export class RecordedSubscriber implements StoreSubscriber {
  /** 'subscribed', or the reason of an interruption. Of several in a row the last. */
  readonly states: string[] = [];
  readonly messages: string[] = [];

  get isSubscribed(): boolean {
    return this.states.at(-1) === 'subscribed';
  }

  message(bytes: Uint8Array): void {
    this.messages.push(Buffer.from(bytes).toString());
  }

  subscribed(): void {
    this.states.push('subscribed');
  }

  interrupted(reason: string): void {
    if (this.states.length > 0 && !this.isSubscribed) this.states.pop();
    this.states.push(reason);
  }
}

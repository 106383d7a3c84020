import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SessionKeys, TokenKey } from '../contract/session-identity.js';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES;

/**
 * Encrypts and authenticates the contents of a store: its names are HMACs, values and messages use
 * AES-256-GCM. The encryption key of a value is derived (HKDF) from the secret and the session, and the value
 * is bound to its name in the store, so that it cannot be opened for another session.
 */
export class SessionSeal {
  readonly #names: Buffer;
  readonly #users: Buffer;
  readonly nameOfAll: string;
  readonly #values: Buffer;
  readonly #messages: Buffer;

  /** `scope` identifies the session service. Keys of different scopes are independent. */
  constructor(secret: string, scope: string) {
    const derive = (use: string): Buffer =>
      Buffer.from(hkdfSync('sha256', secret, scope, `nestjs-session-auth ${use}`, 32));
    this.#names = derive('names');
    this.#users = derive('users');
    this.nameOfAll = `all.${derive('all').toString('base64url')}`;
    this.#values = derive('values');
    this.#messages = derive('messages');
  }

  nameOf(tokenKey: TokenKey): string {
    return createHmac('sha256', this.#names).update(tokenKey, 'latin1').digest('base64url');
  }

  nameOfRevoked(tokenKey: TokenKey): string {
    return `revoked.${this.nameOf(tokenKey)}`;
  }

  nameOfUser(username: string): string {
    return `user.${createHmac('sha256', this.#users).update(username).digest('base64url')}`;
  }

  sealValue(keys: SessionKeys, text: string): Buffer {
    return seal(this.#keyOf(keys), text, this.nameOf(keys.tokenKey));
  }

  openValue(keys: SessionKeys, bytes: Uint8Array): string | undefined {
    return open(this.#keyOf(keys), bytes, this.nameOf(keys.tokenKey));
  }

  /**
   * Seals a message to the other instances. Only copies of one message may share an IV, each sealed by
   * another secret.
   */
  sealMessage(text: string, iv?: Buffer): Buffer {
    return seal(this.#messages, text, '', iv);
  }

  static ivOf(bytes: Uint8Array): string | undefined {
    if (!isSealed(bytes)) return undefined;
    return Buffer.from(bytes.subarray(1, HEAD_BYTES)).toString('base64url');
  }

  openMessage(bytes: Uint8Array): string | undefined {
    return open(this.#messages, bytes, '');
  }

  #keyOf({ sessionKey }: SessionKeys): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#values, Buffer.from(sessionKey, 'latin1'), 'session', 32));
  }
}

export function newIv(): Buffer {
  return randomBytes(IV_BYTES);
}

function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= HEAD_BYTES + TAG_BYTES && bytes[0] === VERSION;
}

function seal(key: Buffer, text: string, place: string, iv = newIv()): Buffer {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, bytes: Uint8Array, place: string): string | undefined {
  if (!isSealed(bytes)) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(1, HEAD_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAAD(Buffer.from(place));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return (
      decipher.update(bytes.subarray(HEAD_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return undefined;
  }
}

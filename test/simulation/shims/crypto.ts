import {
  createHmac as createHmacOfNode,
  hash as hashOfNode,
  hkdfSync as hkdfOfNode,
  type BinaryToTextEncoding,
} from 'crypto';

/*
 * The parts of `node:crypto` that the library uses, fast enough for a million histories. Keys, digests and MACs are those of Node.js, each
 * computed once: all histories use the same few sessions. The cipher hides nothing, but detects a wrong key, a wrong place and any change.
 */

const TAG_WORDS = 4;
const TAG_BYTES = 16;

/** Cached results by text, for each key. */
class Memo<Value> {
  readonly #byKey = new WeakMap<object, Map<string, Value>>();
  readonly #withoutKey = new Map<string, Value>();

  get(key: object | undefined, text: string, make: () => Value): Value {
    const values = this.#valuesOf(key);
    const known = values.get(text);
    if (known !== undefined) return known;
    const made = make();
    values.set(text, made);
    return made;
  }

  #valuesOf(key: object | undefined): Map<string, Value> {
    if (!key) return this.#withoutKey;
    const known = this.#byKey.get(key);
    if (known) return known;
    const values = new Map<string, Value>();
    this.#byKey.set(key, values);
    return values;
  }
}

const digests = new Memo<string>();
const macs = new Memo<string>();
const derived = new Memo<ArrayBuffer>();
/** Returns one object for equal keys, so that they share cached results. */
const keys = new Map<string, Buffer>();

/** As in Node.js. */
export function hash(algorithm: string, text: string, encoding: BinaryToTextEncoding): string {
  return digests.get(undefined, `${algorithm} ${encoding} ${text}`, () =>
    hashOfNode(algorithm, text, encoding),
  );
}

/** As in Node.js, for one text. */
export function createHmac(algorithm: string, key: Buffer): unknown {
  const same = sameKey(key);
  return {
    update: (text: string, inputEncoding: 'latin1' | 'utf8' = 'utf8') => ({
      digest: (encoding: BinaryToTextEncoding): string =>
        macs.get(same, `${encoding} ${inputEncoding} ${text}`, () =>
          createHmacOfNode(algorithm, key).update(text, inputEncoding).digest(encoding),
        ),
    }),
  };
}

/** As in Node.js. */
export function hkdfSync(
  digest: string,
  key: string | Buffer,
  salt: string | Buffer,
  info: string,
  length: number,
): ArrayBuffer {
  const name = `${typeof salt === 'string' ? salt : salt.toString('latin1')}\n${info}`;
  const make = (): ArrayBuffer => hkdfOfNode(digest, key, salt, info, length);
  return typeof key === 'string'
    ? derived.get(undefined, `${key}\n${name}`, make)
    : derived.get(sameKey(key), name, make);
}

/** Returns bytes that are determined by the seed. */
export function randomBytes(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let index = 0; index < size; index += 4) {
    const word = Math.random() * 2 ** 32;
    for (let part = 0; part < 4 && index + part < size; part += 1) bytes[index + part] = word >>> (8 * part);
  }
  return bytes;
}

/** Returns its text unchanged, with a tag. */
class Cipher {
  protected readonly state: Uint32Array;

  constructor(key: Buffer, iv: Uint8Array) {
    this.state = new Uint32Array(TAG_WORDS).fill(0x811c9dc5);
    this.mix(key);
    this.mix(iv);
  }

  setAAD(place: Uint8Array): this {
    this.mix(place);
    return this;
  }

  update(text: string): Buffer {
    const bytes = Buffer.from(text);
    this.mix(bytes);
    return bytes;
  }

  final(): Buffer {
    return Buffer.alloc(0);
  }

  getAuthTag(): Buffer {
    return Buffer.from(this.state.buffer);
  }

  /** Each word of the tag is a separate FNV hash. */
  protected mix(bytes: Uint8Array): void {
    const { state } = this;
    let [one = 0, two = 0, three = 0, four = 0] = state;
    for (const byte of bytes) {
      one = Math.imul(one ^ byte, 0x01000193);
      two = Math.imul(two ^ byte, 0x01000195) + 1;
      three = Math.imul(three ^ (byte + one), 0x010001a3);
      four = Math.imul(four ^ (byte + two), 0x010001b5) + 3;
    }
    state.set([one ^ bytes.length, two, three, four]);
  }
}

/** Accepts a text whose tag is valid. */
class Decipher extends Cipher {
  #tag: Uint8Array = new Uint8Array(TAG_BYTES);

  setAuthTag(tag: Uint8Array): void {
    this.#tag = tag;
  }

  override update(bytes: Uint8Array | string): Buffer {
    const text = Buffer.from(bytes as Uint8Array);
    this.mix(text);
    // Node.js returns a string in the given encoding; the library uses UTF-8.
    return text.toString() as unknown as Buffer;
  }

  override final(): Buffer {
    if (!this.getAuthTag().equals(this.#tag))
      throw new Error('Unsupported state or unable to authenticate data');
    return '' as unknown as Buffer;
  }
}

/** Replaces that of Node.js. */
export function createCipheriv(_algorithm: string, key: Buffer, iv: Uint8Array): Cipher {
  return new Cipher(key, iv);
}

/** Replaces that of Node.js. */
export function createDecipheriv(_algorithm: string, key: Buffer, iv: Uint8Array): Decipher {
  return new Decipher(key, iv);
}

function sameKey(key: Buffer): Buffer {
  const name = key.toString('latin1');
  const known = keys.get(name);
  if (known) return known;
  keys.set(name, key);
  return key;
}

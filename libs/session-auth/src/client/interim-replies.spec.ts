import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { acceptContinue, InterimScan } from './interim-replies.js';

/** Returns the bytes that undici reads when these arrive in pieces of `length` bytes. */
function shown(text: string, pieceLength: number, scan = new InterimScan()): string {
  const pieces: Buffer[] = [];
  for (let start = 0; start < text.length; start += pieceLength) {
    const piece = Buffer.from(text.slice(start, start + pieceLength), 'latin1');
    scan.rewrite(piece);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('latin1');
}

const OK = 'HTTP/1.1 200 OK\r\nx: HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
const [CONTINUE, SHOWN] = ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 102 Continue\r\n\r\n'];
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const [LAST, MORE_HINTS] = ['HTTP/1.9 199 \r\n\r\n', 'HTTP/1.0 103 \r\na: b\r\nc: d\r\n\r\n'];

describe.each([1, 2, 3, 7, 11, 12, 13, 1_000])('status lines in pieces of %p bytes', (length) => {
  it.each([
    ['a reply is unchanged', OK, OK],
    ['100 becomes 102', CONTINUE + OK, SHOWN + OK],
    ['100 becomes 102 each time', CONTINUE + HINTS + CONTINUE + OK, SHOWN + HINTS + SHOWN + OK],
    ['100 with headers becomes 102', 'HTTP/1.0 100 \r\na: b\r\n\r\n', 'HTTP/1.0 102 \r\na: b\r\n\r\n'],
    [
      '100 after interim replies with any digits and headers becomes 102',
      LAST + MORE_HINTS + CONTINUE,
      LAST + MORE_HINTS + SHOWN,
    ],
    ['100 after blank lines becomes 102', `\r\n${CONTINUE}`, `\r\n${SHOWN}`],
    [
      '110 and 101 are unchanged',
      'HTTP/1.1 110 \r\n\r\nHTTP/1.1 101 \r\n\r\n',
      'HTTP/1.1 110 \r\n\r\nHTTP/1.1 101 \r\n\r\n',
    ],
    ...[
      'HTTP/1 100 Continue',
      'HTTP/1./ 100 Continue',
      'HTTP/1.: 100 Continue',
      'HTTP/1.1 \r\n100 Continue',
    ].map((text) => ['bytes that are not HTTP are unchanged', text, text] as const),
  ])('%s', (_name, sent, expected) => {
    expect(shown(sent, length)).toBe(expected);
  });

  it('of the next reply are scanned after its request is written', () => {
    const scan = new InterimScan();
    expect(shown(OK, length, scan)).toBe(OK);
    scan.restart();
    expect(shown(CONTINUE + OK, length, scan)).toBe(SHOWN + OK);
  });
});

describe('a connection that accepts 100', () => {
  /** Connects to a service whose replies are `chunks`. */
  function connected(chunks: (string | null)[]): { socket: Socket; written: unknown[] } {
    const written: unknown[] = [];
    const far = {
      write: (...args: unknown[]) => written.push(args) > 1,
      read: () => {
        const chunk = chunks.shift();
        return typeof chunk === 'string' ? Buffer.from(chunk) : null;
      },
    } as unknown as Socket;
    acceptContinue(far);
    return { socket: far, written };
  }
  const readFrom = (socket: Socket): string => String(socket.read());

  it('shows 102 instead, before each of its replies and nowhere else', () => {
    const { socket, written } = connected([CONTINUE, null, OK, CONTINUE, CONTINUE, OK]);
    expect(socket.write('first', 'utf8')).toBe(false);
    expect([readFrom(socket), socket.read(), readFrom(socket), readFrom(socket)]).toEqual([
      SHOWN,
      null,
      OK,
      CONTINUE,
    ]);
    expect(socket.write('second')).toBe(true);
    expect([readFrom(socket), readFrom(socket)]).toEqual([SHOWN, OK]);
    expect(written).toEqual([['first', 'utf8'], ['second']]);
  });
});

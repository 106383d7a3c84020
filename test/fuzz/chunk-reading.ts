const SIZE_LINE = /^(0*[0-9A-Fa-f]{1,8})((?:;[0-9A-Za-z]+(?:=[0-9A-Za-z]+)?)*)$/;
const TRAILER = /^[0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Fields that a trailer must not have; they mean nothing there, or make a recipient suspicious. */
const MISPLACED = /^(?:content|transfer)-/i;

/** A chunked body and where it ends. */
interface Chunks {
  readonly body: string;
  readonly certain: boolean;
  readonly end: number;
}

/**
 * Reads a chunked body by RFC 9112, section 7.1. Every deviation is doubtful: bodies that two readers delimit
 * differently are attacks.
 */
export function readChunks(bytes: string, from: number): Chunks | 'incomplete' | 'doubtful' {
  let body = '';
  let at = from;
  for (;;) {
    const line = lineAt(bytes, at);
    if (typeof line === 'string') return line;
    const size = SIZE_LINE.exec(line.text);
    if (!size) return 'doubtful';
    const length = parseInt(size[1] ?? '', 16);
    at = line.end;
    if (length === 0) return readTrailers(bytes, at, body);
    body += bytes.slice(at, at + length);
    at += length;
    const gap = bytes.slice(at, at + 2);
    if (!'\r\n'.startsWith(gap)) return 'doubtful';
    if (gap.length < 2) return 'incomplete';
    at += 2;
  }
}

function readTrailers(bytes: string, from: number, body: string): Chunks | 'incomplete' | 'doubtful' {
  let at = from;
  let certain = true;
  for (;;) {
    const line = lineAt(bytes, at);
    if (typeof line === 'string') return line;
    at = line.end;
    if (line.text === '') return { body, certain, end: at };
    if (!TRAILER.test(line.text)) return 'doubtful';
    certain &&= !MISPLACED.test(line.text);
  }
}

function lineAt(
  bytes: string,
  at: number,
): { readonly text: string; readonly end: number } | 'incomplete' | 'doubtful' {
  const newline = bytes.indexOf('\n', at);
  if (newline < 0) return 'incomplete';
  if (newline === at || bytes[newline - 1] !== '\r') return 'doubtful';
  return { text: bytes.slice(at, newline - 1), end: newline + 1 };
}

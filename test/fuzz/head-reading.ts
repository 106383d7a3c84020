/** Status line and fields of an answer, with names in small letters. */
export interface Head {
  readonly version: string;
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly certain: boolean;
  readonly end: number;
}

const STATUS_LINE = /^(?:HTTP|RTSP|ICE)\/(\d\.\d) ([1-9]\d\d)( .*)?$/s;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * A longer head is doubtful: the library need not take it. No case comes close to its limit of 16 384 from
 * below.
 */
const MAX_SURE_HEAD = 15_000;

/** Reads the head that begins at `from`. Not certain: heads that a recipient may accept or refuse. */
export function readHead(bytes: string, from: number): Head | 'incomplete' | 'doubtful' {
  const start = skipEmptyLines(bytes, from);
  const lines: string[] = [];
  let certain = start === from;
  let at = start;
  for (;;) {
    const newline = bytes.indexOf('\n', at);
    if (newline < 0)
      return bytes.length - from > MAX_SURE_HEAD || !startsLikeHttp(bytes, start) ? 'doubtful' : 'incomplete';
    const crlf = bytes[newline - 1] === '\r' && newline > at;
    const line = bytes.slice(at, crlf ? newline - 1 : newline);
    certain &&= crlf;
    at = newline + 1;
    if (line === '' && lines.length > 0) break;
    if (/^[ \t]/.test(line) && lines.length > 1) {
      certain = false;
      lines.push(`${lines.pop() ?? ''} ${line.trim()}`);
    } else lines.push(line);
  }
  return at - from > MAX_SURE_HEAD ? 'doubtful' : parseHead(lines, certain, at);
}

function parseHead([statusLine = '', ...lines]: string[], certain: boolean, end: number): Head | 'doubtful' {
  const parts = STATUS_LINE.exec(statusLine);
  if (!parts) return 'doubtful';
  const [, version = '', status = '', reason = ''] = parts;
  const fields: [string, string][] = [];
  // A message framed as HTTP/1.1 may be read as such under another version or protocol; the reason phrase is
  // not read; tabs around values are legal, and refused by some parsers.
  let sure =
    certain &&
    statusLine.startsWith('HTTP/1.') &&
    /[01]$/.test(version) &&
    /^ [\t\x20-\x7e\x80-\xff]*$/.test(reason);
  for (const line of lines) {
    sure &&= !line.includes('\t');
    const field = FIELD.exec(line);
    if (!field) return 'doubtful';
    const [, name = '', value = ''] = field;
    fields.push([name.toLowerCase(), value.replace(/[ \t]+$/, '')]);
  }
  return { version, status: Number(status), fields, certain: sure, end };
}

function skipEmptyLines(bytes: string, from: number): number {
  let at = from;
  while (bytes[at] === '\r' || bytes[at] === '\n') at += 1;
  return at;
}

function startsLikeHttp(bytes: string, start: number): boolean {
  const beginning = bytes.slice(start, start + 5);
  return 'HTTP/'.startsWith(beginning);
}

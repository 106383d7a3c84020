import { readChunks } from './chunk-reading.js';
import type { Ending } from './wire-case.js';
import { readHead, type Head } from './head-reading.js';

/** A complete answer. `certain` is false where the standard lets a recipient refuse it. */
export interface Answer {
  readonly kind: 'answer';
  readonly head: Head;
  readonly body: string;
  readonly certain: boolean;
  readonly end: number;
}

/** An answer that ends too early, or one whose meaning or extent the standard leaves open or forbids. */
export type NoAnswer =
  | { readonly kind: 'incomplete'; readonly status: number }
  | { readonly kind: 'doubtful' };

type Complete = (body: string, end: number, sure?: boolean) => Answer;

const DOUBTFUL: NoAnswer = { kind: 'doubtful' };

/** Reads the answer to a GET by RFC 9112, and gives up where a recipient has to guess. */
export function readAnswer(bytes: string, ending: Ending, from = 0): Answer | NoAnswer {
  const head = readHead(bytes, from);
  if (head === 'incomplete') return { kind: 'incomplete', status: 0 };
  if (head === 'doubtful' || head.status === 101) return DOUBTFUL;
  if (head.status >= 200) return readBody(bytes, head, ending);
  const final = readAnswer(bytes, ending, head.end);
  const plainInterim = head.certain && head.fields.every(([name]) => name === 'link');
  return final.kind === 'answer' && !plainInterim ? { ...final, certain: false } : final;
}

function readBody(bytes: string, head: Head, ending: Ending): Answer | NoAnswer {
  const codings = valuesOf(head, 'transfer-encoding');
  const lengths = valuesOf(head, 'content-length');
  const answer: Complete = (body, end, sure = true) => {
    const certain = sure && head.certain && end === bytes.length && ending !== 'reset';
    return { kind: 'answer', head, body, certain, end };
  };
  if (codings.length > 0) return readCoded(bytes, head, codings, lengths, answer);
  if (lengths.length > 1 || lengths.some((length) => !/^\d{1,15}$/.test(length))) return DOUBTFUL;
  if (head.status === 204 || head.status === 304) return answer('', head.end);
  if (lengths.length === 0) {
    const rest = bytes.slice(head.end);
    // A reset right behind the last byte reaches a Node.js program as an end, so that either reading of it is
    // right.
    return ending === 'keep' ? { kind: 'incomplete', status: head.status } : answer(rest, bytes.length);
  }
  const end = head.end + Number(lengths[0]);
  return end <= bytes.length
    ? answer(bytes.slice(head.end, end), end)
    : { kind: 'incomplete', status: head.status };
}

function readCoded(
  bytes: string,
  head: Head,
  codings: readonly string[],
  lengths: readonly string[],
  answer: Complete,
): Answer | NoAnswer {
  const isPlain = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked' && lengths.length === 0;
  if (!isPlain || head.status === 204 || head.status === 304) return DOUBTFUL;
  const chunks = readChunks(bytes, head.end);
  if (chunks === 'doubtful') return DOUBTFUL;
  return chunks === 'incomplete'
    ? { kind: 'incomplete', status: head.status }
    : answer(chunks.body, chunks.end, chunks.certain && head.version === '1.1');
}

export function valuesOf({ fields }: Head, name: string): string[] {
  return fields.filter((field) => field[0] === name).map(([, value]) => value);
}

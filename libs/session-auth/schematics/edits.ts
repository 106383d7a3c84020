/** A piece of text in place of what stands between two positions. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The text with all edits made. Positions are those of the text before; of two edits at one position the later in the list comes first. */
export function edited(text: string, edits: readonly Edit[]): string {
  const lastFirst = [...edits].sort((one, other) => other.from - one.from);
  return lastFirst.reduce((result, { from, to, text: piece }) => result.slice(0, from) + piece + result.slice(to), text);
}

/** The blanks that the line of a position begins with. */
export function indentAt(text: string, position: number): string {
  const line = text.slice(text.lastIndexOf('\n', position - 1) + 1);
  return line.slice(0, line.length - line.trimStart().length);
}

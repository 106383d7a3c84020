/** A replacement of the text between two positions. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Returns the text with all edits. Positions refer to the original text. Of two edits at one position, the
 * later in the list comes first.
 */
export function edited(text: string, edits: readonly Edit[]): string {
  const lastFirst = [...edits].sort((one, other) => other.from - one.from);
  return lastFirst.reduce(
    (result, { from, to, text: replacement }) => result.slice(0, from) + replacement + result.slice(to),
    text,
  );
}

/** Returns the indentation of the line at a position. */
export function indentAt(text: string, position: number): string {
  const line = text.slice(text.lastIndexOf('\n', position - 1) + 1);
  return line.slice(0, line.length - line.trimStart().length);
}

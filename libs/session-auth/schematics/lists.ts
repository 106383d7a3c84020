import type ts from 'typescript';

export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Positions refer to the original text. Of two edits at one position, the later in the list comes first. */
export function edited(text: string, edits: readonly Edit[]): string {
  const lastFirst = [...edits].sort((one, other) => other.from - one.from);
  return lastFirst.reduce(
    (result, { from, to, text: replacement }) => result.slice(0, from) + replacement + result.slice(to),
    text,
  );
}

export function indentAt(text: string, position: number): string {
  const line = text.slice(text.lastIndexOf('\n', position - 1) + 1);
  return line.slice(0, line.length - line.trimStart().length);
}

export interface List {
  readonly text: string;
  readonly items: ts.NodeArray<ts.Node>;
  /** Position of the closing bracket or brace. */
  readonly end: number;
  /** Indentation of the closing bracket or brace after all edits. */
  readonly indent: string;
  /** One step of indentation. */
  readonly step: string;
}

export function appended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => onItsLine(list, item)).join(',');
  const comma = list.items.length === 0 || list.items.hasTrailingComma || isOnOneLine(list) ? ',' : '';
  return [...broken(list), closing(list, lines + comma)];
}

/** For a list that is not empty. */
export function prepended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => `${onItsLine(list, item)},`).join('');
  return [...opened(list), { from: list.items.pos, to: list.items.pos, text: lines }];
}

/** Puts each item of a one-line list on its own line. */
export function opened(list: List): Edit[] {
  return isOnOneLine(list) ? [...broken(list), closing(list, '')] : [];
}

export function isOnOneLine({ text, items }: Pick<List, 'text' | 'items'>): boolean {
  const [first] = items;
  return first !== undefined && !text.slice(items.pos, first.getStart()).includes('\n');
}

function broken(list: List): Edit[] {
  if (!isOnOneLine(list)) return [];
  return list.items.map((item) => {
    const from = item.getFullStart();
    return { from, to: from + item.getFullText().search(/\S/), text: onItsLine(list, '') };
  });
}

function closing({ text, items, end, indent }: List, lines: string): Edit {
  const from = items.at(-1)?.getEnd() ?? items.pos;
  const comma = items.length > 0 && !items.hasTrailingComma ? ',' : '';
  return { from, to: end, text: `${comma}${text.slice(from, end).trimEnd()}${lines}\n${indent}` };
}

function onItsLine(list: List, item: string): string {
  const { text, items, indent, step } = list;
  const [first] = items;
  const line = `\n${first && !isOnOneLine(list) ? indentAt(text, first.getStart()) : indent + step}`;
  return line + item.replaceAll('\n', line);
}

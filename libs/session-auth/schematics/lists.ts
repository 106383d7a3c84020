import type ts from 'typescript';
import { indentAt, type Edit } from './edits.js';

/** Items between brackets or braces in a text. */
export interface List {
  readonly text: string;
  readonly items: ts.NodeArray<ts.Node>;
  /** Position of the bracket or brace that closes the list. */
  readonly end: number;
  /** What the line of that bracket or brace is indented by, when all is done. */
  readonly indent: string;
  /** One step of indentation. */
  readonly step: string;
}

/** Puts items behind those that are there, a line each. */
export function appended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => onItsLine(list, item)).join(',');
  const comma = list.items.length === 0 || list.items.hasTrailingComma || isOnOneLine(list) ? ',' : '';
  return [...broken(list), closing(list, lines + comma)];
}

/** Puts items before those that are there, of which there is one at least. */
export function prepended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => `${onItsLine(list, item)},`).join('');
  return [...opened(list), { from: list.items.pos, to: list.items.pos, text: lines }];
}

/** Gives each item of a list on one line a line of its own. */
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

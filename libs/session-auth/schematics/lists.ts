import type ts from 'typescript';
import { indentAt, type Edit } from './edits.js';

/** A list between brackets or braces in a text. */
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

/** Returns the edits that append items, one per line. */
export function appended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => onItsLine(list, item)).join(',');
  const comma = list.items.length === 0 || list.items.hasTrailingComma || isOnOneLine(list) ? ',' : '';
  return [...broken(list), closing(list, lines + comma)];
}

/** Returns the edits that prepend items, one per line, to a list that is not empty. */
export function prepended(list: List, added: readonly string[]): Edit[] {
  const lines = added.map((item) => `${onItsLine(list, item)},`).join('');
  return [...opened(list), { from: list.items.pos, to: list.items.pos, text: lines }];
}

/** Returns the edits that put each item of a one-line list on its own line. */
export function opened(list: List): Edit[] {
  return isOnOneLine(list) ? [...broken(list), closing(list, '')] : [];
}

/**
 * Returns whether the first item is on the line of the opening bracket or brace; `false` for an empty list.
 */
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

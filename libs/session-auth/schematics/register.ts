import type ts from 'typescript';
import { edited, indentAt, type Edit } from './edits.js';
import { appended, isOnOneLine, opened, prepended } from './lists.js';
import { entries, importLine, IMPORTS, USUAL, type Names, type Registration } from './registration.js';
import type { RootModule } from './root-module.js';
import { findNode, importLists, isValid, localName, type Source } from './source.js';

/** What a user is told instead of a change that would not be safe. */
export class CannotEdit extends Error {}

/** The text of the module's file with the session check registered. */
export function registered({ source, decorator }: RootModule, asked: Pick<Registration, 'withConfig' | 'protectAllRoutes'>): string {
  const { ts, file } = source;
  if (file.text.includes('\uFFFD')) throw new CannotEdit('it is not UTF-8');
  const registration: Registration = { ...USUAL, ...styleOf(source), ...asked };
  const names = namesIn(source);
  const added = entries(registration, names);
  const edits = [...importEdits(source, names, registration), ...decoratorEdits(source, decorator, added, registration)];
  const text = edited(file.text, file.text.includes('\r\n') ? edits.map(withReturns) : edits);
  if (!isValid(ts, text)) throw new CannotEdit('it is not plain TypeScript');
  return text;
}

function styleOf(source: Source): Pick<Registration, 'quote' | 'step' | 'semicolon'> {
  const { file } = source;
  const imported = lastImport(source, () => true);
  const indented = findNode(source, (node): node is ts.Node => indentAt(file.text, node.getStart()) !== '');
  return {
    quote: imported?.moduleSpecifier.getText()[0] ?? USUAL.quote,
    step: indented ? indentAt(file.text, indented.getStart()) : USUAL.step,
    semicolon: imported?.getText().endsWith(';') === false ? '' : USUAL.semicolon,
  };
}

function importEdits(source: Source, names: Names, registration: Registration): Edit[] {
  const lines: string[] = [];
  const edits = Object.entries(IMPORTS).flatMap(([from, wanted]) => {
    const missing = wanted.filter((name) => localName(source, name, from) === undefined);
    const added = missing.map((name) => (names(name) === name ? name : `${name} as ${names(name)}`));
    const items = importLists(source, from).find((list) => list.length > 0);
    if (!items && added.length > 0) lines.push(`\n${importLine(from, added, registration)}`);
    return items ? namesAdded(source, items, added) : [];
  });
  const end = lineEndOf(source, lastImport(source, (from) => !from.startsWith('.'))?.getEnd() ?? 0);
  return lines.length > 0 ? [...edits, { from: end, to: end, text: lines.join('') }] : edits;
}

/** Behind the comments that belong to what ends at a position. */
function lineEndOf({ ts, file }: Source, position: number): number {
  return ts.getTrailingCommentRanges(file.text, position)?.at(-1)?.end ?? position;
}

function lastImport({ ts, file }: Source, from: (specifier: string) => boolean): ts.ImportDeclaration | undefined {
  const isOne = (specifier: ts.Expression): boolean => ts.isStringLiteral(specifier) && from(specifier.text);
  return file.statements.filter((one) => ts.isImportDeclaration(one)).findLast(({ moduleSpecifier }) => isOne(moduleSpecifier));
}

function namesAdded({ file }: Source, items: ts.NodeArray<ts.ImportSpecifier>, names: readonly string[]): Edit[] {
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last || names.length === 0) return [];
  const onOneLine = !file.text.slice(items.pos, last.getStart()).includes('\n');
  const between = onOneLine ? ' ' : `\n${indentAt(file.text, last.getStart())}`;
  return [{ from: last.getEnd(), to: last.getEnd(), text: names.map((name) => `,${between}${name}`).join('') }];
}

/** How the file calls what it imports, or will: by another name where the first means something else there. */
function namesIn(source: Source): Names {
  const all = Object.entries(IMPORTS).flatMap(([from, names]) =>
    names.map((name) => [name, localName(source, name, from) ?? freeName(source, name)] as const),
  );
  const names = new Map(all);
  return (exported) => names.get(exported) ?? exported;
}

function freeName(source: Source, name: string): string {
  const { ts } = source;
  const isTaken = (one: string): boolean =>
    findNode(source, (node): node is ts.Node => ts.isIdentifier(node) && node.text === one) !== undefined;
  const free = [name, `Nest${name}`].find((one) => !isTaken(one));
  if (free === undefined) throw new CannotEdit(`${name} and Nest${name} mean something else there`);
  return free;
}

function decoratorEdits(source: Source, decorator: ts.CallExpression, added: readonly string[], { step }: Registration): Edit[] {
  const { ts, file } = source;
  const [metadata] = decorator.arguments;
  if (!metadata) {
    const end = decorator.getEnd() - 1;
    return [{ from: end, to: end, text: `{${indented(importsOf(added, step), step)},\n}` }];
  }
  if (!ts.isObjectLiteralExpression(metadata)) throw new CannotEdit('what its @Module() gets is not written out there');
  const [present, indent] = [importsIn(source, metadata), indentAt(file.text, decorator.getStart())];
  const object = { text: file.text, items: metadata.properties, end: metadata.getEnd() - 1, indent, step };
  if (!present) return (object.items.length === 0 ? appended : prepended)(object, [importsOf(added, step)]);
  const inner = isOnOneLine(object) ? indent + step : indentAt(file.text, present.getStart());
  return [...opened(object), ...appended({ ...object, items: present.elements, end: present.getEnd() - 1, indent: inner }, added)];
}

/** The list of what a module imports, when it has one. */
function importsIn({ ts }: Source, { properties }: ts.ObjectLiteralExpression): ts.ArrayLiteralExpression | undefined {
  const property = properties.find(({ name }) => name && /^(\[?)(['"`]?)imports\2\]?$/.test(name.getText()));
  const behind = property ? properties.slice(properties.indexOf(property)) : properties;
  if (behind.some((one) => ts.isSpreadAssignment(one))) throw new CannotEdit('its @Module() takes over what another object says');
  if (!property) return undefined;
  if (ts.isPropertyAssignment(property) && ts.isArrayLiteralExpression(property.initializer)) return property.initializer;
  throw new CannotEdit('its `imports` is not a list that is written out there');
}

function importsOf(added: readonly string[], step: string): string {
  return `imports: [${added.map((entry) => `${indented(entry, step)},`).join('')}\n]`;
}

/** Lines of their own, one step further in. */
function indented(lines: string, step: string): string {
  return `\n${lines}`.replaceAll('\n', `\n${step}`);
}

/** As on Windows. */
function withReturns(edit: Edit): Edit {
  return { ...edit, text: edit.text.replaceAll(/\r?\n/g, '\r\n') };
}

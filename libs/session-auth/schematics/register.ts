import type ts from 'typescript';
import { appended, edited, indentAt, isOnOneLine, opened, prepended, type Edit } from './lists.js';
import { entries, importLine, IMPORTS, USUAL, type Names, type Registration } from './registration.js';
import type { RootModule } from './root-module.js';
import { findNode, importDeclarations, importLists, isValid, localName, type Source } from './source.js';

/** The reason why the file can't be edited safely, for the user. */
export class CannotEdit extends Error {}

/**
 * Returns the text of the module's file with the session check registered. @throws CannotEdit if the change
 * would not be safe
 */
export function registered(
  { source, decorator }: RootModule,
  options: Pick<Registration, 'withConfig' | 'protectAllRoutes'>,
): string {
  const { ts, file } = source;
  if (file.text.includes('\uFFFD')) throw new CannotEdit('it is not UTF-8');
  const registration: Registration = { ...USUAL, ...styleOf(source), ...options };
  const nameOf = localNames(source);
  const added = entries(registration, nameOf);
  const edits = [
    ...importEdits(source, nameOf, registration),
    ...decoratorEdits(source, decorator, added, registration),
  ];
  const text = edited(file.text, file.text.includes('\r\n') ? edits.map(withCrlf) : edits);
  if (!isValid(ts, text)) throw new CannotEdit('it is not valid TypeScript');
  return text;
}

function styleOf(source: Source): Pick<Registration, 'quote' | 'step' | 'semicolon'> {
  const { file } = source;
  const imported = importDeclarations(source).at(-1)?.declaration;
  const indented = findNode(source, (node): node is ts.Node => indentAt(file.text, node.getStart()) !== '');
  return {
    quote: imported?.moduleSpecifier.getText()[0] ?? USUAL.quote,
    step: indented ? indentAt(file.text, indented.getStart()) : USUAL.step,
    semicolon: imported?.getText().endsWith(';') === false ? '' : USUAL.semicolon,
  };
}

function importEdits(source: Source, nameOf: Names, registration: Registration): Edit[] {
  const lines: string[] = [];
  const edits = Object.entries(IMPORTS).flatMap(([from, exported]) => {
    const missing = exported.filter((name) => localName(source, name, from) === undefined);
    const added = missing.map((name) => (nameOf(name) === name ? name : `${name} as ${nameOf(name)}`));
    const items = importLists(source, from).find((list) => list.length > 0);
    if (!items && added.length > 0) lines.push(`\n${importLine(from, added, registration)}`);
    return items ? nameEdits(source, items, added) : [];
  });
  const last = importDeclarations(source).findLast(({ from }) => !from.startsWith('.'));
  const end = lineEndOf(source, last?.declaration.getEnd() ?? 0);
  return lines.length > 0 ? [...edits, { from: end, to: end, text: lines.join('') }] : edits;
}

/** The position after the trailing comments of a node that ends at `position`. */
function lineEndOf({ ts, file }: Source, position: number): number {
  return ts.getTrailingCommentRanges(file.text, position)?.at(-1)?.end ?? position;
}

function nameEdits(
  { file }: Source,
  items: ts.NodeArray<ts.ImportSpecifier>,
  names: readonly string[],
): Edit[] {
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last || names.length === 0) return [];
  const onOneLine = !file.text.slice(items.pos, last.getStart()).includes('\n');
  const separator = onOneLine ? ' ' : `\n${indentAt(file.text, last.getStart())}`;
  return [
    { from: last.getEnd(), to: last.getEnd(), text: names.map((name) => `,${separator}${name}`).join('') },
  ];
}

/** Returns the imported name of an export, or a free name for a new import. */
function localNames(source: Source): Names {
  const all = Object.entries(IMPORTS).flatMap(([from, names]) =>
    names.map((name) => [name, localName(source, name, from) ?? freeName(source, name)] as const),
  );
  const names = new Map(all);
  return (exported) => names.get(exported) ?? exported;
}

function freeName(source: Source, name: string): string {
  const { ts } = source;
  const isTaken = (candidate: string): boolean =>
    findNode(source, (node): node is ts.Node => ts.isIdentifier(node) && node.text === candidate) !==
    undefined;
  const free = [name, `Nest${name}`].find((one) => !isTaken(one));
  if (free === undefined) throw new CannotEdit(`${name} and Nest${name} are already in use there`);
  return free;
}

function decoratorEdits(
  source: Source,
  decorator: ts.CallExpression,
  added: readonly string[],
  { step }: Registration,
): Edit[] {
  const { ts, file } = source;
  const [metadata] = decorator.arguments;
  if (!metadata) {
    const end = decorator.getEnd() - 1;
    return [{ from: end, to: end, text: `{${indented(importsOf(added, step), step)},\n}` }];
  }
  if (!ts.isObjectLiteralExpression(metadata))
    throw new CannotEdit('the argument of its @Module() is not an object literal');
  const [present, indent] = [importsIn(source, metadata), indentAt(file.text, decorator.getStart())];
  const object = { text: file.text, items: metadata.properties, end: metadata.getEnd() - 1, indent, step };
  if (!present) return (object.items.length === 0 ? appended : prepended)(object, [importsOf(added, step)]);
  const inner = isOnOneLine(object) ? indent + step : indentAt(file.text, present.getStart());
  return [
    ...opened(object),
    ...appended({ ...object, items: present.elements, end: present.getEnd() - 1, indent: inner }, added),
  ];
}

function importsIn(
  { ts }: Source,
  { properties }: ts.ObjectLiteralExpression,
): ts.ArrayLiteralExpression | undefined {
  const property = properties.find(({ name }) => name && /^(\[?)(['"`]?)imports\2\]?$/.test(name.getText()));
  const rest = property ? properties.slice(properties.indexOf(property)) : properties;
  if (rest.some((one) => ts.isSpreadAssignment(one)))
    throw new CannotEdit('its @Module() spreads another object');
  if (!property) return undefined;
  if (ts.isPropertyAssignment(property) && ts.isArrayLiteralExpression(property.initializer))
    return property.initializer;
  throw new CannotEdit('its `imports` is not an array literal');
}

function importsOf(added: readonly string[], step: string): string {
  return `imports: [${added.map((entry) => `${indented(entry, step)},`).join('')}\n]`;
}

function indented(lines: string, step: string): string {
  return `\n${lines}`.replaceAll('\n', `\n${step}`);
}

function withCrlf(edit: Edit): Edit {
  return { ...edit, text: edit.text.replaceAll(/\r?\n/g, '\r\n') };
}

// Checks that every message of the library says itself what to do, or that docs/troubleshooting.md lists it: the
// constant part of its first sentence. Names, codes and reasons of errors may be in docs/errors.md instead. The
// commands print their messages to the person who runs them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'libs/session-auth/src');
const TROUBLESHOOTING = 'docs/troubleshooting.md';

/**
 * Where texts for people and codes for programs stand in the sources: each finds the expressions that hold
 * them.
 */
const PLACES = {
  thrown: (node) =>
    ts.isNewExpression(node) && /(?:Error|Exception)$/.test(node.expression.getText())
      ? node.arguments?.slice(0, 1)
      : [],
  'of a class of errors': (node) => (isCall(node, 'super') ? node.arguments.slice(0, 1) : []),
  'the default of an error': (node) =>
    ts.isParameter(node) && node.name.getText() === 'message' ? [node.initializer] : [],
  'of a reply': (node) =>
    ts.isPropertyAssignment(node) && /^(?:message|code)$/.test(node.name.getText()) ? [node.initializer] : [],
  'the code of an error': (node) =>
    ts.isPropertyDeclaration(node) && /^(?:name|code)$/.test(node.name.getText()) ? [node.initializer] : [],
  'a refused option': (node) => (isCall(node, 'invalidOption', 'only') ? node.arguments.slice(1, 2) : []),
  'the reason of an outage': (node) =>
    ts.isTypeAliasDeclaration(node) && node.name.text === 'UnavailableReason' ? literalsOf(node.type) : [],
  'found by the audit': (node) => (isCall(node, 'finding') ? node.arguments.slice(0, 1) : []),
  logged: (node) =>
    isCall(node, 'this.note', 'causes.note', 'logger.warn') ? node.arguments.slice(0, 1) : [],
};

/** Functions that throw a message of a problem, and the number of arguments with its remedy. */
const WITH_REMEDY = { invalidOption: 3, only: 3 };
/** Places whose messages a developer reads when an application starts. */
const AT_START = new Set(['thrown', 'a refused option', 'found by the audit']);

const missing = [];
for (const [place, find] of Object.entries(PLACES)) {
  const texts = new Set(files().flatMap((file) => textsIn(file, find, AT_START.has(place))));
  if (texts.size === 0) throw new Error(`nothing was found that is ${place}: the check checks nothing`);
  const pages = /^the (?:code|reason) of /.test(place)
    ? [TROUBLESHOOTING, 'docs/errors.md']
    : [TROUBLESHOOTING];
  const printed = pages.map((page) => oneLine(readFileSync(join(root, page), 'utf8'))).join('\n');
  for (const [text, saysWhatToDo] of texts)
    if (!saysWhatToDo && !printed.includes(text))
      missing.push(`${pages.join(' or ')} lacks (${place}): ${text}`);
}
if (missing.length > 0) throw new Error(missing.join('\n'));
console.log('every message of the library says what to do, or is in docs/troubleshooting.md');

function files() {
  const names = readdirSync(sources, { recursive: true }).filter(
    (name) => name.endsWith('.ts') && !/\.(?:spec|d)\.ts$/.test(name),
  );
  return names.map((name) =>
    ts.createSourceFile(name, readFileSync(join(sources, name), 'utf8'), ts.ScriptTarget.Latest, true),
  );
}

/** Each text, with whether its message says what to do. */
function textsIn(file, find, isAtStart) {
  const texts = [];
  const visit = (node) => {
    for (const expression of find(node) ?? []) {
      const isEnough = isAtStart && (hasRemedy(node) || isInstruction(expression));
      texts.push(...searchable(expression).map((text) => [text, isEnough]));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

function hasRemedy(node) {
  return ts.isCallExpression(node) && node.arguments.length >= WITH_REMEDY[node.expression.getText()];
}

/** After the name of its place, a second sentence, or the word for what is needed. */
function isInstruction(expression) {
  const text = oneLine(expression?.getText() ?? '').replace(/^.\w+(?:[.]\w+)?(?:\(\))?: /, '');
  return /[.:] \S|\b(?:needs|must be)\b/.test(text);
}

/**
 * The first sentence of the longest part that is always the same; nothing of an expression that holds no text
 * of its own.
 */
function searchable(expression) {
  if (!expression) return [];
  if (ts.isConditionalExpression(expression))
    return [expression.whenTrue, expression.whenFalse].flatMap(searchable);
  const parts = ts.isStringLiteralLike(expression)
    ? [expression.text]
    : ts.isTemplateExpression(expression)
      ? partsOf(expression)
      : [];
  const [longest] = parts
    .map((part) => oneLine(part).split('. ')[0].trim().replace(/[.:]$/, ''))
    .sort((a, b) => b.length - a.length);
  return longest ? [longest] : [];
}

function partsOf({ head, templateSpans }) {
  return [head.text, ...templateSpans.map(({ literal }) => literal.text)];
}

function literalsOf(union) {
  return union.types.map(({ literal }) => literal);
}

function isCall(node, ...names) {
  return ts.isCallExpression(node) && names.includes(node.expression.getText());
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ');
}

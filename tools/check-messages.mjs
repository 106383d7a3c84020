// Checks that docs/troubleshooting.md lists every message of the library: the constant part of its first
// sentence. Names, codes and reasons of errors may be in docs/errors.md instead; log lines must be in
// docs/operations.md too. The commands print their messages to the person who runs them.
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
  'a refused option': (node) => (isCall(node, 'invalidOption') ? node.arguments.slice(1, 2) : []),
  'a refused class of records': (node) => (isCall(node, 'rejectClass') ? node.arguments.slice(0, 1) : []),
  'the reason of an outage': (node) =>
    ts.isTypeAliasDeclaration(node) && node.name.text === 'UnavailableReason' ? literalsOf(node.type) : [],
  'found by the audit': (node) => (isCall(node, 'finding') ? node.arguments.slice(0, 1) : []),
  logged: (node) =>
    isCall(node, 'this.#write', 'this.#logger.error', 'logger.warn', 'parts.warn')
      ? node.arguments.slice(0, 1)
      : [],
};

const missing = [];
for (const [place, find] of Object.entries(PLACES)) {
  const texts = new Set(files().flatMap((file) => textsIn(file, find)));
  if (texts.size === 0) throw new Error(`nothing was found that is ${place}: the check checks nothing`);
  for (const pages of pagesOf(place)) {
    const printed = pages.map((page) => oneLine(readFileSync(join(root, page), 'utf8'))).join('\n');
    missing.push(
      ...[...texts]
        .filter((text) => !printed.includes(text))
        .map((text) => `${pages.join(' or ')} lacks (${place}): ${text}`),
    );
  }
}
if (missing.length > 0) throw new Error(missing.join('\n'));
console.log('every message of the library is in docs/troubleshooting.md');

/** Lists of pages; each text must be on one page of each list. */
function pagesOf(place) {
  if (place === 'logged') return [[TROUBLESHOOTING], ['docs/operations.md']];
  return /^the (?:code|reason) of /.test(place) ? [[TROUBLESHOOTING, 'docs/errors.md']] : [[TROUBLESHOOTING]];
}

function files() {
  const names = readdirSync(sources, { recursive: true }).filter(
    (name) => name.endsWith('.ts') && !/\.(?:spec|d)\.ts$/.test(name),
  );
  return names.map((name) =>
    ts.createSourceFile(name, readFileSync(join(sources, name), 'utf8'), ts.ScriptTarget.Latest, true),
  );
}

function textsIn(file, find) {
  const texts = [];
  const visit = (node) => {
    texts.push(...(find(node) ?? []).flatMap((expression) => searchable(expression)));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
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

// Places in a source, by the names around them: they stay when lines move, or texts beside them are reworded.
import ts from 'typescript';

/**
 * Returns a function that returns the names of the declarations around an offset of a source, the innermost
 * first.
 */
export function namesIn(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  return (offset) => {
    const names = [];
    for (let node = innermost(source, offset); node; node = node.parent) {
      if (ts.isConstructorDeclaration(node)) names.push('constructor');
      else if (isNamed(node)) names.push(node.name.getText());
    }
    return names;
  };
}

/** Code without what the formatter decides: white space, and the comma after the last of several lines. */
export function plain(code) {
  return code.replace(/\s+/g, '').replace(/,(?=[)\]}])/g, '');
}

/** Returns the offsets at which a piece of code begins. */
export function offsetsOf(text, code) {
  return spansOf(text, code).map(([from]) => from);
}

/** Returns the text between the places of a piece of code: `text.split(code)`, whatever the formatter did. */
export function splitAt(text, code) {
  const spans = spansOf(text, code);
  return [0, ...spans.map(([, to]) => to)].map((from, index) => text.slice(from, spans[index]?.[0]));
}

function spansOf(text, code) {
  const marks = [...text].flatMap((sign, offset) => (/\s/.test(sign) ? [] : [{ sign, offset }]));
  const signs = marks.filter(({ sign }, index) => sign !== ',' || !/[)\]}]/.test(marks[index + 1]?.sign));
  const [all, wanted] = [signs.map(({ sign }) => sign).join(''), plain(code)];
  const spans = [];
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1))
    spans.push([signs[at].offset, signs[at + wanted.length - 1].offset + 1]);
  return spans;
}

function innermost(node, offset) {
  return (
    ts.forEachChild(node, (child) =>
      child.getStart() <= offset && offset < child.end ? innermost(child, offset) : undefined,
    ) ?? node
  );
}

/** Local variables are no places: a function has few lines. */
function isNamed(node) {
  if (ts.isVariableDeclaration(node)) return ts.isSourceFile(node.parent.parent.parent);
  return (
    (ts.isFunctionDeclaration(node) ||
      ts.isClassElement(node) ||
      ts.isClassDeclaration(node) ||
      ts.isPropertyAssignment(node)) &&
    node.name
  );
}

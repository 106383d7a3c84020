// Finds a piece of code in a source, whatever the formatter did to it.

/** Code without what the formatter decides: white space, and the comma after the last of several lines. */
function plain(code) {
  return code.replace(/\s+/g, '').replace(/,(?=[)\]}])/g, '');
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

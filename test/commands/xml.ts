interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Text before the first child. */
  text: string;
}

const TOKEN = /<\/([\w-]+)>|<([\w-]+)((?: [\w-]+="[^"<]*")*)(\/?)>|([^<]+)/gy;
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/**
 * Returns the elements of a document in its order. @throws Error if it is not well-formed; it may hold
 * elements, attributes, texts and numeric references
 */
export function elementsOf(xml: string): XmlElement[] {
  const [start = ''] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(xml) ?? [];
  if (start === '' || FORBIDDEN.test(xml)) throw new Error('no XML');
  const [elements, open] = [[] as XmlElement[], [] as XmlElement[]];
  TOKEN.lastIndex = start.length;
  let end = start.length;
  for (let token = TOKEN.exec(xml); token; token = TOKEN.exec(xml)) {
    const [, closed, name, attributes = '', isEmpty, text] = token;
    end = TOKEN.lastIndex;
    if (closed !== undefined && open.pop()?.name !== closed)
      throw new Error(`</${closed}> closes another element`);
    if (text !== undefined) append(open.at(-1), text);
    if (name === undefined) continue;
    if (open.length === 0 && elements.length > 0) throw new Error('two roots');
    const element = { name, attributes: attributesOf(attributes), text: '' };
    elements.push(element);
    if (isEmpty === '') open.push(element);
  }
  if (end !== xml.length || open.length > 0) throw new Error(`not well-formed at ${end}`);
  return elements;
}

function append(element: XmlElement | undefined, text: string): void {
  if (element) element.text += resolved(text);
  else if (text.trim() !== '') throw new Error('text outside of the root');
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, resolved(value)] as const,
  );
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length)
    throw new Error('an attribute occurs twice');
  return Object.fromEntries(pairs);
}

function resolved(text: string): string {
  return text.replace(/&(?:#(\d+);)?/g, (_all, code?: string) => {
    if (code === undefined) throw new Error('an unescaped ampersand');
    return String.fromCodePoint(Number(code));
  });
}

const WORDS =
  /(?<comment>\/\/.*|\/\*[^]*?\*\/)|(?<string>'[^']*'|`[^`]*`)|(?<decorator>@\w+)|(?<keyword>\b(?:async|await|class|const|export|if|new|readonly|return|throw|void|undefined|true|false)\b)/g;

/** A piece of source text of one kind. */
export interface Tinted {
  readonly kind: string;
  readonly text: string;
}

/** Splits TypeScript into pieces to colour: comments, strings, decorators, keywords, and the rest. */
export function tint(source: string): Tinted[] {
  const pieces: Tinted[] = [];
  let end = 0;
  for (const match of source.matchAll(WORDS)) {
    if (match.index > end) pieces.push({ kind: 'plain', text: source.slice(end, match.index) });
    const [kind] = Object.entries<string | undefined>(match.groups ?? {}).find(
      ([, text]) => text !== undefined,
    ) ?? ['plain'];
    pieces.push({ kind, text: match[0] });
    end = match.index + match[0].length;
  }
  return [...pieces, { kind: 'plain', text: source.slice(end) }];
}

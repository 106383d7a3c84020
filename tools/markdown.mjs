// Formats a page of Markdown as `npm run format` does.
import { readFileSync } from 'node:fs';
import { format } from 'oxfmt';

const { singleQuote, printWidth } = JSON.parse(
  readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'),
);

export async function formatMarkdown(text) {
  const { code, errors } = await format('page.md', text, { singleQuote, printWidth });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}

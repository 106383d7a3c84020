// Checks that the sources, tests and pages use the words of the glossary, in plain English. Identifiers count
// word by word, file names too.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Words that have a better one, each with it. A name such as `lapsesAt` is read as `lapses At`. */
const WORDS = [
  [/\bremember(?:s|ed|ing)?\b/i, 'cache'],
  [/\b(?:forgets|forgot|forgetting)\b/i, 'evict (only the public methods are called forget)'],
  [/\b(?:tells?|told|telling|untold)\b/i, 'return, report, emit; distinguish, determine'],
  [/\b(?:hears?|heard|hearing|over ?hears?|over ?heard)\b/i, 'receive, subscribe'],
  [/\bannounc(?:e|es|ed|ing|ement|ements)\b/i, 'publish, emit, print'],
  [/\blaps(?:e|es|ed|ing)\b/i, 'expire'],
  [/\b(?:bar|barred|bars)\b/i, 'revoke, tombstone'],
  [/\bend marks?\b/i, 'tombstone'],
  [/\bpardon(?:s|ed|ing)?\b/i, 'clear the tombstone'],
  [/\bshared flights?\b/i, 'single flight'],
  [/\bsuspicions?\b/i, 'misconfiguration'],
  [/\b(?:no|some|every|any)body\b/i, 'a noun: the caller, no user; everyone'],
  [/\b(?:whoever|whosoever|whatsoever)\b/i, 'a noun'],
  [/\b(?:he|him|his|himself)\b/i, 'it: a program is no person'],
  [/\b(?:of itself|in vain|lest|no yes)\b/i, 'plain words'],
  [/\b(?:hereby|thereby|therein|thereof|whence|thence|whereby|wherein|hitherto|albeit)\b/i, 'plain words'],
  [/\banew\b/i, 'again'],
  [/\b(?:what (?:came|becomes?|became) of)\b/i, 'the outcome of'],
  [/(?:\/\*\*|^\s*\/\/) What\b(?!.*\?)/i, 'a noun: the subject of a comment is the thing that it documents'],
];

/** Places where a word is right, each with the reason. */
const EXCEPTIONS = [
  [/^apps\/demo\/page\/drawer\/last-reply\.tsx$/, 'announce', 'screen readers announce'],
  [/^bench\//, 'bar', 'a chart has bars'],
  [
    /^test\/(?:(?:demo|fuzz|graphql|operations|session-service)\/|revocation\/sign-out|sockets\/openings)/,
    'nobody',
    'a user name or token that is unknown',
  ],
];

/**
 * Files that are not checked: history, results of past runs, the output of npm, the text of the MIT license,
 * and this list.
 */
const SKIPPED = /(?:^|\/)(?:CHANGELOG\.md|LICENSE|RESULTS\.md|package-lock\.json)$|^tools\/check-words\.mjs$/;
const TEXT = new Set([
  '.cjs',
  '.css',
  '.html',
  '.js',
  '.json',
  '.md',
  '.mjs',
  '.proto',
  '.snap',
  '.sql',
  '.ts',
  '.tsx',
  '.yaml',
  '.yml',
  '',
]);

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && !SKIPPED.test(file) && TEXT.has(extname(file)));
const used = new Set();
const problems = files.flatMap((file) => checkFile(file));
problems.push(
  ...EXCEPTIONS.filter((exception) => !used.has(exception)).map(
    ([place, word]) => `an exception is unused: "${word}" in ${place}`,
  ),
);

if (files.length < 500) throw new Error(`only ${files.length} files were found: the check checks nothing`);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${files.length} files use the words of the glossary`);

/** Returns the lines of a file, and its path as line 0, that have a word with a better one. */
function checkFile(file) {
  const lines = [file, ...readFileSync(`${root}${file}`, 'utf8').split('\n')];
  return lines.flatMap((line, number) =>
    findWords(line)
      .filter(({ word }) => !isException(file, word))
      .map(({ word, better }) => `${file}:${number}: "${word}": ${better}`),
  );
}

function findWords(line) {
  const text = line.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return WORDS.flatMap(([pattern, better]) => {
    const [word] = pattern.exec(text) ?? [];
    return word === undefined ? [] : [{ word: word.trim(), better }];
  });
}

function isException(file, word) {
  const exception = EXCEPTIONS.find(
    ([place, start]) => place.test(file) && word.toLowerCase().startsWith(start),
  );
  if (exception) used.add(exception);
  return exception !== undefined;
}

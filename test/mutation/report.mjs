// Prints the score of each folder from Stryker's report, without the mutants that change nothing, and the
// mutants that survived.
import { exceeds } from '../../tools/limits.mjs';
import { EQUIVALENT } from './equivalent.mjs';
import { FOLDERS } from './folders.mjs';
import { namesIn, plain } from './places.mjs';

const SOURCES = 'libs/session-auth/src/';
const COLUMNS = ['killed', 'timeout', 'survived', 'no coverage', 'equivalent'];
const COLUMN_OF = {
  Killed: 'killed',
  Timeout: 'timeout',
  Survived: 'survived',
  NoCoverage: 'no coverage',
  RuntimeError: 'killed',
};

/**
 * Returns whether each folder reaches its share, or misses it by less than 2 %, and every equivalent mutant of
 * these folders is still there and survives.
 * @param files the files of Stryker's report
 */
export function report(files, folders) {
  const mutants = mutantsOf(files).filter(({ file }) => folders.some((folder) => isIn(file, folder)));
  const unmatched = EQUIVALENT.filter(({ file }) => folders.some((folder) => isIn(file, folder))).filter(
    (entry) => !takeEntry(mutants, entry),
  );
  for (const mutant of mutants.filter(isLeft)) {
    const { file, line, mutator, original, replacement, status } = mutant;
    console.log(
      `${COLUMN_OF[status]}: ${file}:${line} ${mutator}: ${oneLine(original)} => ${oneLine(replacement)}`,
    );
  }
  for (const { file, where, original, replacement } of unmatched) {
    console.error(
      `test/mutation/equivalent.mjs: no such mutant survives in ${file}, ${where}: ${original} => ${replacement}`,
    );
  }
  const rows = folders.map((folder) => ({
    folder,
    ...scoreOf(mutants.filter(({ file }) => isIn(file, folder))),
  }));
  console.table(Object.fromEntries(rows.map(({ folder, ...row }) => [folder, row])));
  const low = rows.filter(({ folder, score }) => {
    const threshold = FOLDERS[folder] ?? FOLDERS[folder.split('/')[0]] ?? 0;
    const missing = exceeds(threshold - score, threshold);
    if (missing === 'slightly') console.error(`Warning: ${folder}: ${score} % is slightly too low`);
    return missing === 'far';
  });
  for (const { folder, score } of low) console.error(`${folder}: ${score} % is too low`);
  return low.length === 0 && unmatched.length === 0 && mutants.length > 0;
}

function isIn(file, folder) {
  return file === folder || file.startsWith(`${folder}/`);
}

function mutantsOf(files) {
  return Object.entries(files).flatMap(([path, { source, mutants }]) => {
    const lines = source.split('\n');
    const namesAt = namesIn(source);
    return mutants
      .filter(({ status }) => status in COLUMN_OF)
      .map(({ mutatorName, replacement, status, location }) => ({
        file: path.slice(SOURCES.length),
        line: location.start.line,
        names: namesAt(offsetOf(lines, location.start)),
        mutator: mutatorName,
        original: textAt(lines, location),
        replacement,
        status,
        isEquivalent: false,
      }));
  });
}

function offsetOf(lines, { line, column }) {
  return lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1;
}

function textAt(lines, { start, end }) {
  const part = lines.slice(start.line - 1, end.line);
  part[part.length - 1] = part.at(-1).slice(0, end.column - 1);
  part[0] = part[0].slice(start.column - 1);
  return part.join('\n');
}

/**
 * Marks the mutants that an entry describes, in one place or as many as it says. On a slow machine, one can
 * time out instead of surviving.
 */
function takeEntry(mutants, { file, where, original, replacement, count }) {
  const found = mutants.filter(
    (mutant) =>
      mutant.file === file &&
      (isLeft(mutant) || mutant.status === 'Timeout') &&
      (where === '' || mutant.names.includes(where)) &&
      plain(mutant.original) === plain(original) &&
      plain(mutant.replacement) === plain(replacement),
  );
  for (const mutant of found) mutant.isEquivalent = true;
  return found.length === count;
}

function isLeft({ status, isEquivalent }) {
  return !isEquivalent && (status === 'Survived' || status === 'NoCoverage');
}

function scoreOf(mutants) {
  const counts = Object.fromEntries(COLUMNS.map((column) => [column, 0]));
  for (const { status, isEquivalent } of mutants)
    counts[isEquivalent ? 'equivalent' : COLUMN_OF[status]] += 1;
  const found = counts.killed + counts.timeout;
  const all = found + counts.survived + counts['no coverage'];
  return { ...counts, score: all === 0 ? 0 : Math.floor((1000 * found) / all) / 10 };
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}

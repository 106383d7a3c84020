const BRAND = 'The brand is found by `in`: its value does not matter.';
const SLOWER =
  'The fields of UserRecord use nothing of class-transformer, so that some field has this result: it builds an equal record, more slowly.';
const NESTED = 'The ccl_info of UserRecord has a nested class: class-transformer then builds every record, an equal one, more slowly.';
const REFUSED = 'The guard admits only `true`: any other value refuses.';
const OWN_NAME = 'A name within the library: any text that no other name has works as well.';
const SAME_TEXT = 'Equal strings cannot be told apart: only memory is saved.';

/**
 * Mutants that change nothing that a program can observe. Each entry has the file, the original and its replacement (with white space as single
 * spaces), and the reason; and a part of the first line or the number of places, where the rest is not unique.
 */
export const EQUIVALENT = [
  { file: 'contract/errors.ts', original: 'true', replacement: 'false', reason: BRAND },
  { file: 'contract/errors.ts', original: '{ value: true }', replacement: '{}', reason: BRAND },
  { file: 'contract/session-store.ts', original: 'true', replacement: 'false', reason: BRAND },
  { file: 'contract/session-store.ts', original: '{ value: true }', replacement: '{}', reason: BRAND },
  {
    file: 'contract/status-outcomes.ts',
    original: "'unexpected_status'",
    replacement: '""',
    reason: 'The next line replaces other values by it.',
  },
  {
    file: 'contract/record/common-values.ts',
    original: '{ name, share: internTable<string>() }',
    replacement: '{}',
    reason: SAME_TEXT,
  },
  {
    file: 'contract/record/common-values.ts',
    original: "{ const text = user[name]; if (typeof text === 'string') user[name] = share(text, text); }",
    replacement: '{}',
    reason: SAME_TEXT,
  },
  { file: 'contract/record/common-values.ts', original: "typeof text === 'string'", replacement: 'false', reason: SAME_TEXT },
  { file: 'contract/record/common-values.ts', original: "'string'", replacement: '""', reason: SAME_TEXT },
  {
    file: 'contract/record/common-values.ts',
    original: 'key.length <= MAX_LENGTH',
    replacement: 'true',
    reason: 'Longer values are strings, because the ids of a ccl_info are safe integers. Equal strings cannot be told apart.',
  },
  {
    file: 'contract/record/common-values.ts',
    original: 'key.length <= MAX_LENGTH',
    replacement: 'key.length < MAX_LENGTH',
    reason: SAME_TEXT,
  },
  {
    file: 'contract/record/record-check.ts',
    original: "typeof value !== 'object'",
    replacement: 'false',
    reason: 'The class of a primitive value has no fields, which the next lines refuse.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'transforms.length > 0 || renamed !== undefined || (typed !== undefined && nested === undefined)',
    replacement: 'true',
    reason: SLOWER,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'transforms.length > 0',
    replacement: 'transforms.length >= 0',
    reason: SLOWER,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'transforms.length > 0',
    replacement: 'transforms.length <= 0',
    reason: SLOWER,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'renamed !== undefined',
    replacement: 'renamed === undefined',
    reason: SLOWER,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'typed !== undefined && nested === undefined',
    replacement: 'typed !== undefined || nested === undefined',
    reason: SLOWER,
  },
  { file: 'contract/record/field-descriptions.ts', original: 'typed !== undefined', replacement: 'true', reason: SLOWER },
  { file: 'contract/record/field-descriptions.ts', original: 'typed !== undefined', replacement: 'typed === undefined', reason: SLOWER },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'nested === undefined',
    replacement: 'true',
    reason: NESTED,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'nested === undefined',
    replacement: 'nested !== undefined',
    reason: NESTED,
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'false',
    replacement: 'true',
    count: 2,
    reason: 'The parameter `always` of class-validator: without groups, it returns all metadata anyway.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    line: 'byField.set(',
    original: '[]',
    replacement: '["Stryker was here"]',
    reason: 'A text is metadata of no type: each use filters by type.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: "metadatas.filter(({ type }) => type === 'customValidation')",
    replacement: 'metadatas',
    reason: 'Metadata of other types has no constraints.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: "type === 'customValidation'",
    replacement: 'true',
    reason: 'Metadata of other types has no constraints.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    line: 'property: propertyName',
    original: "''",
    replacement: '"Stryker was here!"',
    reason: 'Each call sets it before the validator runs.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: '!each && !validateIf',
    replacement: 'false',
    reason: 'The path below gives the same result, with one more function call.',
  },
  {
    file: 'contract/record/field-descriptions.ts',
    original: 'instance.defaultMessage?.(args)',
    replacement: 'instance.defaultMessage(args)',
    reason: 'The error is caught, and the result is the same text.',
  },
  { file: 'guard/access/access-rule.ts', original: '() => false', replacement: '() => undefined', reason: REFUSED },
  {
    file: 'guard/access/access-rule.ts',
    original: 'requirement?.isMet',
    replacement: 'requirement.isMet',
    reason: 'The loop stays within the list.',
  },
  { file: 'guard/access/access-rule.ts', original: '{ return false; }', replacement: '{}', reason: REFUSED },
  {
    file: 'guard/denial.ts',
    original: 'DENIALS.hasSubscribers',
    replacement: 'true',
    reason: 'Without subscribers, publish() does nothing: only time is saved.',
  },
  {
    file: 'guard/decisions.ts',
    line: 'this.#settings.impersonatorField ??',
    original: "''",
    replacement: '"Stryker was here!"',
    reason: 'No record has a field of this name either.',
  },
  {
    file: 'guard/session-auth.guard.ts',
    original: "rule.kind === 'protected'",
    replacement: 'true',
    reason: 'Other rules have no maxAgeMs.',
  },
  {
    file: 'guard/session/cross-origin.ts',
    line: 'trusted.has(origin)',
    original: 'origin !== undefined',
    replacement: 'true',
    reason: 'The set of trusted origins does not contain undefined.',
  },
  {
    file: 'guard/session/cross-origin.ts',
    original: 'upgrade !== undefined',
    replacement: 'true',
    reason: 'The expression does not match undefined.',
  },
  {
    file: 'guard/session/cross-origin.ts',
    original: '/^https?:\\/\\//',
    replacement: '/https?:\\/\\//',
    reason: 'The origin of any other URL differs from the URL.',
  },
  { file: 'guard/session/cross-origin.ts', line: 'MARK', original: 'true', replacement: 'false', reason: BRAND },
  { file: 'guard/session/presented-session.ts', original: "'no token'", replacement: '""', reason: OWN_NAME },
  { file: 'guard/session/presented-session.ts', original: "'cross-origin'", replacement: '""', reason: OWN_NAME },
];

/**
 * The parts of the library that are tested by default, and the share of their mutants, in percent, that the unit specs must kill. The other
 * parts are not measured.
 */
export const FOLDERS = {
  contract: 95,
  client: 95,
  verifier: 95,
  guard: 95,
  diagnostics: 95,
  exceptions: 95,
  module: 95,
  browsers: 95,
};

/**
 * The parts of the library that are tested, and the share of their mutants, in percent, that the unit specs must kill. The end-to-end tests check the
 * other parts as well, but only with few of the mutants (`npm run test:mutants`).
 */
export const FOLDERS = {
  contract: 95,
};

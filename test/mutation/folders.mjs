/** The folders of the library that are tested, and the share of their mutants, in percent, that the unit specs must kill. */
export const FOLDERS = {
  contract: 95,
};

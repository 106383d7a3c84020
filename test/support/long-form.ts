/** Suites that take long have a short form, which `npm test` runs; `LONG_TESTS=1` runs them whole. */
export const IS_LONG_FORM = process.env.LONG_TESTS === '1';

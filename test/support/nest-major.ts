import { describe } from '@jest/globals';

/** The major version of NestJS that the tests run on: `npm run test:nest-11` sets it. */
export const NEST_MAJOR = process.env.NEST_MAJOR === '11' ? 11 : 12;

/** Tests of behaviour that NestJS 11 lacks; skipped there. */
export const describeOnNest12 = NEST_MAJOR === 12 ? describe : describe.skip;

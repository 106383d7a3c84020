/** The major version of NestJS that the tests run on: `npm run test:nest-11` sets it. */
export const NEST_MAJOR = process.env.NEST_MAJOR === '11' ? 11 : 12;

// Dependencies of the applications that the trials install.

/** The peers of the library that are not of Nest, and what Nest needs. */
export const COMMON = {
  axios: '^1.17.0',
  'class-transformer': '^0.5.1',
  'class-validator': '^0.15.0',
  'reflect-metadata': '^0.2.0',
  rxjs: '^7.8.0',
};

/** These packages of Nest in a range of versions, and `@nestjs/axios`, which has its own. */
export function nestPackages(range, ...names) {
  const packages = names.map((name) => [`@nestjs/${name}`, range]);
  return { '@nestjs/axios': range.includes('12.') ? '^12.0.0' : '^4.0.0', ...Object.fromEntries(packages) };
}

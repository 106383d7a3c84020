const { dirname } = require('node:path');
const { dependencies } = require('./package.json');

const PACKAGES = Object.keys(dependencies);
const FOLDER = dirname(require.resolve('./package.json'));

/** Resolves the packages of NestJS from this folder, whichever file asks, so that there is one copy of each; other packages as usual. */
module.exports = (request, options) => {
  const isNest = PACKAGES.some((name) => request === name || request.startsWith(`${name}/`));
  return options.defaultResolver(request, isNest ? { ...options, basedir: FOLDER } : options);
};

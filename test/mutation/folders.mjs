/** The parts of the library, and the share of their mutants, in percent, that the counted tests must kill. */
export const FOLDERS = {
  contract: 93,
  records: 86,
  client: 94,
  verifier: 93,
  fleet: 88,
  guard: 86,
  kinds: 95,
  policies: 89,
  diagnostics: 95,
  exceptions: 95,
  module: 88,
  audit: 85,
  graphql: 86,
  messages: 95,
  gateways: 95,
  browsers: 95,
  sockets: 95,
  open: 81,
  redis: 90,
  testing: 90,
  opentelemetry: 94,
  swagger: 95,
  terminus: 95,
};

/**
 * The end-to-end tests, below `test`, of parts that have no specs for some files: what they do is seen at a real
 * Redis, application or SDK only.
 */
export const SUITES = {
  guard: [
    'access/decisions',
    'access/report-only',
    'access/rules-that-fail',
    'access/two-services',
    'kit/access-map',
    'module/audit/findings',
    'open/replies',
  ],
  policies: ['access/policies', 'access/policies-of-every-kind', 'access/user-loaders'],
  records: ['module/own-user-record', 'module/schema-of-records', 'access/validated-user'],
  module: [
    'module/options',
    'module/registered-twice',
    'module/registration',
    'module/shutdown',
    'module/testing-overrides',
  ],
  audit: ['kit/access-map', 'module/audit/findings', 'module/audit/graphql', 'module/audit/parameters'],
  graphql: ['graphql/fields', 'graphql/subscriptions', 'open/graphql'],
  open: ['open/http2', 'open/replies'],
  redis: ['fleet/redis-store/entries', 'fleet/redis-store/subscription'],
  testing: ['access/user-loaders', 'kit/scripted-session-service', 'kit/two-services', 'kit/test-sessions'],
  opentelemetry: ['operations/opentelemetry'],
  swagger: ['openapi/swagger'],
  terminus: ['operations/health'],
};

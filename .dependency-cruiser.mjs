/** The layers of the library, left to right; a layer imports only what is to its left. */
const LAYERS = ['contract', 'exceptions', 'client', 'verifier', 'guard', 'module'];
const LIBRARY = '^libs/session-auth/src';
/** What the command line may load: parts without Nest and axios, so that it starts fast. */
const PARTS_OF_COMMANDS =
  'contract/|redis/|client/(reply-headers|user-details-verdict|http/(body|reply))[.]ts|module/settings/defaults[.]ts';
const SCHEMATICS = '^libs/session-auth/schematics';
/** Entries of their own: deleting one breaks no other file. */
const ROOMS = ['context', 'diagnostics', 'errors', 'opentelemetry', 'redis', 'sockets', 'store', 'swagger', 'terminus', 'testing'];
/** What makes contexts other than HTTP's. */
const OPTIONAL_PACKAGES =
  'node_modules/(@nestjs/(graphql|apollo|mercurius|websockets|microservices|platform-.*)|graphql|graphql-ws|ws|socket[.]io)/';

const layerRules = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `${layer}-imports-only-what-is-left-of-it`,
  severity: 'error',
  from: { path: `${LIBRARY}/${layer}/` },
  to: { path: `${LIBRARY}/(${LAYERS.slice(index + 1).join('|')}|index)` },
}));

export default {
  forbidden: [
    ...layerRules,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'the-module-does-not-import-the-entry',
      severity: 'error',
      from: { path: `${LIBRARY}/module/` },
      to: { path: `${LIBRARY}/index` },
    },
    {
      name: 'plain-layers-know-no-nest',
      severity: 'error',
      from: { path: `${LIBRARY}/(contract|client|verifier)/` },
      to: { path: 'node_modules/@nestjs/(?!axios)' },
    },
    {
      name: 'the-verifier-decides-in-values-and-throws-no-exception-of-nest',
      severity: 'error',
      from: { path: `${LIBRARY}/verifier/` },
      to: { path: `${LIBRARY}/exceptions/` },
    },
    {
      name: 'only-the-client-talks-http',
      severity: 'error',
      from: { path: `${LIBRARY}/(contract|exceptions|verifier|guard)/` },
      to: { path: 'node_modules/(@nestjs/axios|axios|undici)/' },
    },
    {
      name: 'packages-that-an-application-may-lack-are-imported-in-one-file',
      severity: 'error',
      from: { path: `${LIBRARY}/`, pathNot: [`${LIBRARY}/guard/optional-packages[.]ts$`, '[.]spec[.]ts$'] },
      to: { path: OPTIONAL_PACKAGES },
    },
    {
      name: 'packages-that-an-application-may-lack-are-imported-when-they-are-used',
      severity: 'error',
      from: { path: `${LIBRARY}/guard/optional-packages[.]ts$` },
      to: { path: OPTIONAL_PACKAGES, dynamic: false },
    },
    { name: 'the-library-imports-no-app', severity: 'error', from: { path: '^libs/' }, to: { path: '^(apps|test|bench)/' } },
    {
      name: 'the-session-service-writes-the-wire-down-itself',
      severity: 'error',
      from: { path: '^apps/session-service/' },
      to: { path: '^(libs|apps/demo|test|bench)/|nestjs-session-auth' },
    },
    {
      name: 'the-library-is-entered-by-its-front-door',
      severity: 'error',
      from: { path: '^(apps|bench)/' },
      to: { path: `${LIBRARY}/(?!index|(${ROOMS.join('|')})/index)` },
    },
    {
      name: 'the-demo-is-looked-at-by-its-console-and-knows-nothing-of-it',
      severity: 'error',
      from: { path: '^apps/demo/src/(backend|serving|session-service|settings)/' },
      to: { path: '^apps/demo/src/(console/|start-demo|main)' },
    },
    {
      name: 'one-port-is-served-whatever-stands-behind-it',
      severity: 'error',
      from: { path: '^apps/demo/src/serving/' },
      to: { path: '^apps/demo/src/(?!serving/)' },
    },
    {
      name: 'the-page-shares-words-with-the-server-and-nothing-else',
      severity: 'error',
      from: { path: '^apps/demo/page/' },
      to: {
        path: '^(apps/demo/src|libs|apps/session-service)/',
        pathNot: '^apps/demo/src/(backend/cache-choice|console/messages|session-service/(fault|demo-user))[.]ts$',
      },
    },
    {
      name: 'no-test-code-in-what-ships',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: '[.]spec[.]ts$' },
      to: { path: '[.]spec[.]ts$|^test/|node_modules/(@jest|jest|fast-check)' },
    },
    {
      name: 'the-redis-entry-stands-alone-on-the-contract',
      severity: 'error',
      from: { path: `${LIBRARY}/redis/` },
      to: { pathNot: [`${LIBRARY}/(redis|contract)/`, 'node_modules/ioredis/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'what-nest-add-runs-needs-nothing-but-node',
      severity: 'error',
      from: { path: `${SCHEMATICS}/` },
      to: { pathNot: `${SCHEMATICS}/`, dependencyTypesNot: ['core', 'type-only'] },
    },
    { name: 'only-nest-add-runs-the-schematics', severity: 'error', from: { path: `${LIBRARY}/` }, to: { path: `${SCHEMATICS}/` } },
    ...ROOMS.map((room) => ({
      name: `the-library-stands-without-its-${room}-entry`,
      severity: 'error',
      from: { path: `${LIBRARY}/`, pathNot: `${LIBRARY}/(${room}|commands)/` },
      to: { path: `${LIBRARY}/${room}/` },
    })),
    {
      name: 'the-commands-import-parts-that-start-fast',
      severity: 'error',
      from: { path: `${LIBRARY}/commands/` },
      to: { path: `${LIBRARY}/(?!commands/|${PARTS_OF_COMMANDS})|node_modules/(@nestjs|axios|rxjs)/` },
    },
    {
      name: 'the-library-stands-without-its-commands',
      severity: 'error',
      from: { path: `${LIBRARY}/`, pathNot: `${LIBRARY}/commands/` },
      to: { path: `${LIBRARY}/commands/` },
    },
    {
      name: 'nothing-that-ships-imports-the-testing-entry',
      severity: 'error',
      from: { path: '^apps/' },
      to: { path: `${LIBRARY}/testing/` },
    },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'nothing-is-orphaned',
      severity: 'error',
      from: { orphan: true, path: `${LIBRARY}/`, pathNot: '[.](spec|d)[.]ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
    reporterOptions: {
      archi: {
        collapsePattern: `${LIBRARY}/[^/]+`,
        theme: { graph: { rankdir: 'LR' } },
      },
      mermaid: { minify: false },
    },
  },
};

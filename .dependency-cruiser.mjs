/** The layers of the library, left to right; a layer imports only what is to its left. */
const LAYERS = [
  'contract',
  'exceptions',
  'client',
  'verifier',
  'guard',
  'kinds',
  'open',
  'policies',
  'module',
];
const LIBRARY = '^libs/session-auth/src';
const COMMANDS = '^libs/session-auth-cli/src/';
/** Files of the library that the commands hold a copy of: parts without Nest and axios. */
const PARTS_OF_COMMANDS =
  'contract/|redis/|client/(user-details-verdict|reply)[.]ts|module/settings/option-table[.]ts|testing/(a-user-record|received-request|scripted-session-service|scripts)[.]ts';
/**
 * Files that load axios or undici: imported by `import()` only, so that an import of the package loads
 * neither.
 */
const LOADED_LATE = `${LIBRARY}/client/(axios-http[.]service|connections?|dispatcher)[.]ts$`;
const SCHEMATICS = '^libs/session-auth/schematics';
/** The entries besides the main one. No other part of the library imports them. */
const ENTRIES = [
  'browsers',
  'diagnostics',
  'errors',
  'opentelemetry',
  'redis',
  'sockets',
  'store',
  'swagger',
  'terminus',
  'testing',
];
const KINDS = {
  loader: `${LIBRARY}/module/context-kinds[.]module[.]ts$`,
  imports: 'contract|exceptions|guard|kinds|open',
};
/**
 * The parts that an application opens by using them. One file loads each, by `import()`; and the folders that
 * each imports.
 */
const LOADED_BY_USE = {
  gateways: KINDS,
  graphql: KINDS,
  messages: KINDS,
  fleet: { loader: `${LIBRARY}/module/wiring[.]ts$`, imports: 'contract|verifier' },
  records: { loader: `${LIBRARY}/module/settings/record-reader[.]ts$`, imports: 'contract' },
};
const AUDIT = `${LIBRARY}/audit/`;
/** Packages of contexts other than HTTP. */
const OPTIONAL_PACKAGES =
  'node_modules/(@nestjs/(graphql|apollo|mercurius|websockets|microservices|platform-.*)|graphql|graphql-ws|ws|socket[.]io)/';
/** The files that import a class of such a package: its exceptions. */
const IMPORTERS_OF_PACKAGES = '(gateways/socket|messages/message)-transport[.]ts$';

const layerRules = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `${layer}-imports-only-layers-to-its-left`,
  severity: 'error',
  from: { path: `${LIBRARY}/${layer}/` },
  to: { path: `${LIBRARY}/(${LAYERS.slice(index + 1).join('|')}|index)` },
}));

export default {
  forbidden: [
    ...layerRules,
    { name: 'no-circular-imports', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'module-does-not-import-the-main-entry',
      severity: 'error',
      from: { path: `${LIBRARY}/module/` },
      to: { path: `${LIBRARY}/index` },
    },
    {
      name: 'contract-client-and-verifier-do-not-import-nest',
      severity: 'error',
      from: { path: `${LIBRARY}/(contract|client|verifier)/` },
      to: { path: 'node_modules/@nestjs/(?!axios)' },
    },
    {
      name: 'verifier-does-not-import-exceptions',
      severity: 'error',
      from: { path: `${LIBRARY}/verifier/` },
      to: { path: `${LIBRARY}/exceptions/` },
    },
    {
      name: 'heavy-packages-are-loaded-late',
      severity: 'error',
      from: { path: LIBRARY, pathNot: [LOADED_LATE, '[.]spec[.]ts$'] },
      to: {
        path: 'node_modules/(@nestjs/axios|axios|undici|class-validator/cjs/index)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'what-loads-heavy-packages-is-imported-late',
      severity: 'error',
      from: { path: LIBRARY, pathNot: [LOADED_LATE, '[.]spec[.]ts$'] },
      to: { path: LOADED_LATE, dependencyTypesNot: ['type-only'], dynamic: false },
    },
    {
      name: 'only-client-imports-http-clients',
      severity: 'error',
      from: { path: `${LIBRARY}/(contract|exceptions|verifier|guard)/` },
      to: { path: 'node_modules/(@nestjs/axios|axios|undici)/' },
    },
    {
      name: 'an-optional-package-is-imported-by-its-transport',
      severity: 'error',
      from: { path: `${LIBRARY}/`, pathNot: [`${LIBRARY}/${IMPORTERS_OF_PACKAGES}`, '[.]spec[.]ts$'] },
      to: { path: OPTIONAL_PACKAGES },
    },
    {
      name: 'optional-packages-are-imported-dynamically',
      severity: 'error',
      from: { path: `${LIBRARY}/${IMPORTERS_OF_PACKAGES}` },
      to: { path: OPTIONAL_PACKAGES, dynamic: false },
    },
    {
      name: 'library-does-not-import-applications',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(apps|bench)/' },
    },
    {
      name: 'session-service-does-not-import-the-library',
      severity: 'error',
      from: { path: '^apps/session-service/' },
      to: { path: '^(libs|apps/demo|test|bench)/|nestjs-session-auth' },
    },
    {
      name: 'applications-import-only-entries-of-the-library',
      severity: 'error',
      from: { path: '^(apps|bench)/' },
      to: { path: `${LIBRARY}/(?!index|(${ENTRIES.join('|')})/index)` },
    },
    {
      name: 'demo-backend-does-not-import-its-console',
      severity: 'error',
      from: { path: '^apps/demo/src/(backend|serving|session-service|settings)/' },
      to: { path: '^apps/demo/src/(console/|start-demo|main)' },
    },
    {
      name: 'demo-serving-is-independent',
      severity: 'error',
      from: { path: '^apps/demo/src/serving/' },
      to: { path: '^apps/demo/src/(?!serving/)' },
    },
    {
      name: 'demo-page-imports-only-shared-types',
      severity: 'error',
      from: { path: '^apps/demo/page/' },
      to: {
        path: '^(apps/demo/src|libs|apps/session-service)/',
        pathNot:
          '^apps/demo/src/(backend/cache-choice|console/messages|session-service/(fault|demo-user))[.]ts$',
      },
    },
    {
      name: 'production-code-does-not-import-tests',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: '[.]spec[.]ts$' },
      to: { path: '[.]spec[.]ts$|^test/|node_modules/(@jest|jest|fast-check)' },
    },
    {
      name: 'redis-entry-imports-only-contract',
      severity: 'error',
      from: { path: `${LIBRARY}/redis/`, pathNot: '[.]spec[.]ts$' },
      to: {
        pathNot: [`${LIBRARY}/(redis|contract)/`, 'node_modules/ioredis/'],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'schematics-import-only-node',
      severity: 'error',
      from: { path: `${SCHEMATICS}/` },
      to: { pathNot: `${SCHEMATICS}/`, dependencyTypesNot: ['core', 'type-only'] },
    },
    {
      name: 'library-does-not-import-schematics',
      severity: 'error',
      from: { path: `${LIBRARY}/` },
      to: { path: `${SCHEMATICS}/` },
    },
    ...Object.entries(LOADED_BY_USE).flatMap(([part, { loader, imports }]) => [
      {
        name: `only-one-file-loads-${part}`,
        severity: 'error',
        from: { path: `${LIBRARY}/`, pathNot: [`${LIBRARY}/${part}/`, loader, '[.]spec[.]ts$'] },
        to: { path: `${LIBRARY}/${part}/` },
      },
      {
        name: `${part}-is-imported-dynamically`,
        severity: 'error',
        from: { path: loader },
        to: { path: `${LIBRARY}/${part}/`, dynamic: false },
      },
      {
        name: `${part}-imports-only-what-is-to-its-left`,
        severity: 'error',
        from: { path: `${LIBRARY}/${part}/`, pathNot: '[.]spec[.]ts$' },
        to: { path: `${LIBRARY}/`, pathNot: `${LIBRARY}/(${part}|${imports})/` },
      },
    ]),
    {
      name: 'what-is-loaded-by-use-is-imported-dynamically',
      severity: 'error',
      from: { path: `${LIBRARY}/(guard|module)/`, pathNot: '[.]spec[.]ts$' },
      to: {
        path: `${LIBRARY}/(kinds|open|policies)/`,
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-two-files-name-the-audit',
      severity: 'error',
      from: {
        path: `${LIBRARY}/`,
        pathNot: [AUDIT, `${LIBRARY}/(module/session-auth[.]module|testing/index)[.]ts$`, '[.]spec[.]ts$'],
      },
      to: { path: AUDIT },
    },
    {
      name: 'the-audit-is-imported-dynamically',
      severity: 'error',
      from: { path: `${LIBRARY}/module/` },
      to: { path: AUDIT, dynamic: false },
    },
    {
      name: 'the-audit-imports-only-the-guard-and-what-is-to-its-left',
      severity: 'error',
      from: { path: AUDIT, pathNot: '[.]spec[.]ts$' },
      to: { path: `${LIBRARY}/`, pathNot: `${LIBRARY}/(audit|contract|guard)/` },
    },
    ...ENTRIES.map((entry) => ({
      name: `library-does-not-import-its-${entry}-entry`,
      severity: 'error',
      from: { path: `${LIBRARY}/`, pathNot: `${LIBRARY}/${entry}/` },
      to: { path: `${LIBRARY}/${entry}/` },
    })),
    {
      name: 'commands-import-only-light-parts',
      severity: 'error',
      from: { path: COMMANDS },
      to: { path: `${LIBRARY}/(?!${PARTS_OF_COMMANDS})|node_modules/(@nestjs|axios|rxjs)/` },
    },
    {
      name: 'only-tests-import-the-commands',
      severity: 'error',
      from: { pathNot: [COMMANDS, '^test/'] },
      to: { path: COMMANDS },
    },
    {
      name: 'applications-do-not-import-the-testing-entry',
      severity: 'error',
      from: { path: '^apps/' },
      to: { path: `${LIBRARY}/testing/` },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      // The trials of the guides have packages of their own.
      from: { pathNot: '^test/package/guides/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: `${LIBRARY}/|${COMMANDS}`, pathNot: '[.](spec|d)[.]ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|^test/toolchains/test-project/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
    reporterOptions: {
      archi: {
        collapsePattern: `${LIBRARY}/[^/]+`,
        theme: { graph: { rankdir: 'LR' } },
      },
      mermaid: { minify: false },
    },
  },
};

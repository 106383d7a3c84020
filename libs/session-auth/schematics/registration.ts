/** Environment variables that the added code reads. */
export const KEYS = { url: 'SESSION_SERVICE_URL', apiKey: 'SESSION_SERVICE_API_KEY' } as const;
/** Names that the added code imports, by package. */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  '@nestjs/config': ['ConfigModule', 'ConfigService'],
  'nestjs-session-auth': ['SessionAuthModule'],
};

export type Names = (exported: string) => string;

export interface Registration {
  /** Whether to add `ConfigModule.forRoot()`, which reads `.env`. An application needs only one. */
  readonly withConfig: boolean;
  readonly protectAllRoutes: boolean;
  readonly typed: boolean;
  readonly quote: string;
  /** One step of indentation. */
  readonly step: string;
  readonly semicolon: string;
}

export const USUAL = { typed: true, quote: "'", step: '  ', semicolon: ';' } as const;

export function importLine(
  from: string,
  names: readonly string[],
  { quote, semicolon }: Pick<Registration, 'quote' | 'semicolon'>,
): string {
  return `import { ${names.join(', ')} } from ${quote}${from}${quote}${semicolon}`;
}

/** Returns the entries to add to the module's `imports`. `nameOf` returns the local name of an export. */
export function entries(registration: Registration, nameOf: Names = (exported) => exported): string[] {
  const { withConfig, protectAllRoutes, typed, quote, step } = registration;
  const [config, service] = [nameOf('ConfigModule'), nameOf('ConfigService')];
  const read = (key: string): string => `config.getOrThrow${typed ? '<string>' : ''}(${quote}${key}${quote})`;
  const session = [
    `${nameOf('SessionAuthModule')}.forRootAsync({`,
    `${step}imports: [${config}],`,
    `${step}inject: [${service}],`,
    `${step}useFactory: (config${typed ? `: ${service}` : ''}) => ({`,
    `${step}${step}baseUrl: ${read(KEYS.url)},`,
    `${step}${step}apiKey: ${read(KEYS.apiKey)},`,
    `${step}}),`,
    ...(protectAllRoutes ? [`${step}protectAllRoutes: true,`] : []),
    '})',
  ];
  return [...(withConfig ? [`${config}.forRoot()`] : []), session.join('\n')];
}

import { INSTANCES, CACHE, PROPAGATION_MS, SABOTAGES, TIMEOUT_MS, type Sabotage } from './settings.js';

/** Report of one run. */
export interface RunReport {
  readonly rows: readonly (readonly [name: string, figure: string | number])[];
  /** Command that repeats the run with the same seed. */
  readonly command: string;
  readonly details: readonly string[];
}

const INTRODUCTION = `${INSTANCES} instances, each a process, on Express and on Fastify in turn, with \`ttlMs\` ${CACHE.ttlMs}, \`timeoutMs\` ${TIMEOUT_MS} and a \`RedisSessionStore\` with its defaults; a
session service that notes each moment at which a token becomes valid or invalid, and each at which it says so; a Redis, and a TCP proxy between it
and each instance. Users come to all instances. Their sessions end by \`signOut\`, \`forget\`, \`forgetUser\` and \`forgetAll\` on any instance and at the service
itself, while the faults below follow each other with pauses. All times are those of the machine's monotonic clock, which the processes share.
A recorder outside the library holds each accepted request against every bound that applies to it:

1. **Own instance.** After a call has settled on an instance, a request that is sent to it is accepted only by what the service said since the call
   (after a sign-out: since the session ended).
2. **Other instances.** The same ${PROPAGATION_MS} ms after the call has settled, if both instances were connected with a healthy Redis from the call until then.
3. **Lifetime.** Always: only by what the service said at most \`ttlMs\` + \`timeoutMs\` before the request was sent.
4. **User.** Only with the user for whom the service said it.

The service is always well, so that 503, 500 and a connection that breaks or hangs count as violations too, and so does a 401 for a session that was
valid for longer than a refusal is cached. Where the machine did not give the processes the processor, a 503 and a late request are counted apart, by
the time that the timers of these processes were late. What is asked of an instance while that stands still may be unavailable.
`;

/** Returns the figures of a run, and the detection of the deliberate bugs, as Markdown. */
export function resultsOf(
  run: RunReport,
  sabotaged: readonly (RunReport & { readonly sabotage: Sabotage })[],
): string {
  const rows = [['figure', ''], ['---', '---'], ...run.rows].map(
    ([name, figure]) => `| ${name} | ${figure} |`,
  );
  const bugs = sabotaged.map(
    ({ sabotage, rows: ofBug }) => `| ${sabotage} | ${SABOTAGES[sabotage]} | ${ofBug.at(-1)?.[1] ?? ''} |`,
  );
  return `${INTRODUCTION}
\`${run.command}\`

${rows.join('\n')}
${run.details.length > 0 ? `\n${run.details.map((detail) => `- ${detail}`).join('\n')}\n` : ''}
## Bugs that were built in

The recorder has to be able to fail. With \`--sabotage\`, each a shorter run:

| bug | what it does | violations |
| --- | --- | --- |
${bugs.join('\n')}
`;
}

import { formatMarkdown } from '../../tools/markdown.mjs';
import { busMessageBytes } from './broadcast.mjs';
import { figure, percent } from './figures.mjs';
import { ALLOWED_DEVIATION, EXPONENTS, FLEET, SMALL_FLEET, TYPICAL } from './scenarios.mjs';
import * as tables from './tables.mjs';
import { zipfGroups } from './zipf.mjs';

const NOTES = {
  calls: `**Cache off**: concurrent checks of a session still share a call. **Cache**: each instance has its own cache. **Store**: these
caches, and one store for the fleet, with random balancing; its calls do not depend on \`maxEntries\`.`,
  store: `An operation is one command or script: a read, the revocations of a session that was read, or a write. A Redis Cluster reads each of the three
revocations by a separate operation. Not in the figures: a refused token, which is a call and two operations each time that its instance has not cached the refusal;
the PING and the publish of each instance every second; sign-outs, which are counted below. **Processors**: time of Redis, 1 is one node that does nothing
else. **Operations per call spared**: compared with caches alone; a high number means that the store is an expensive way to reduce calls.`,
  memory: `Caches alone, ${TYPICAL.ratePerInstance} requests per instance and second; the last column is for a fleet with a store. Expired sessions stay in memory until others need their place, so that an instance that has run for long holds
\`maxEntries\`.`,
  size: `Zipf exponent ${TYPICAL.exponent}, ${TYPICAL.ratePerInstance} requests per instance and second, lifetime ${TYPICAL.ttl} s, 10,000 users for each instance.`,
};

function assumptions(redis, bytesPerEntry) {
  const { session, mark, operations, delivery } = redis;
  const cost = ({ processorMicroseconds, perSecond }) =>
    `${processorMicroseconds} us (${perSecond.toLocaleString('en-US')} per second at best)`;
  return [
    `- Fleet: ${FLEET.instances.toLocaleString('en-US')} instances, ${FLEET.users.toLocaleString('en-US')} users with a session each, all of them in use as Zipf's law says; \`maxEntries\` ${FLEET.maxEntries.toLocaleString('en-US')} unless stated`,
    `- The busiest user makes ${busiest()} of all requests with exponent ${EXPONENTS.join(', ')}: the last is a fleet with a few machines among its users; people alone are nearer to the first`,
    `- Requests of a session come as a Poisson process: bursts, such as a page that loads, are better for every cache`,
    `- The session service answers after ${FLEET.serviceTime * 1_000} ms`,
    `- No refresh-ahead, no restarts; Redis always answers`,
    `- A cached session takes ${bytesPerEntry} bytes in an instance (bench/RESULTS.md)`,
    `- Redis ${redis.redis} on ${redis.machine}, measured there with the library's scripts by \`node bench/fleet-simulation/measure-redis.mjs\`; other machines differ`,
    `  - a session of ${session.keyBytes} bytes key and ${session.valueBytes} bytes value takes ${session.bytes} bytes, a tombstone ${mark.bytes} bytes`,
    `  - processor time: a read that finds a session ${cost(operations.read)}, one that finds none ${cost(operations.miss)}, the three revocations of a session ${cost(operations.revocations)}, one of them ${cost(operations.revocation)}, a write ${cost(operations.write)}, a tombstone ${cost(operations.end)}, the load generator on the same machine`,
    `  - delivery of a message to one of 1,000 subscribers: ${delivery.processorMicroseconds} us, ${delivery.bytes} bytes`,
  ].join('\n');
}

function busiest() {
  return EXPONENTS.map((exponent) => `${figure(zipfGroups(FLEET.users, exponent)[0].share * 100)} %`).join(
    ', ',
  );
}

function broadcastNote(redis) {
  return `1,000 instances, 10,000,000 users. **Plain**: an instance subscribes at one node, and each message is forwarded to all nodes over the cluster bus. **Sharded**:
a message stays at the node of its channel, and each instance subscribes at all nodes. Either way every instance receives every sign-out. A sign-out is
two operations, a tombstone and a publish, in addition to its deliveries. **Tombstones**: with a lifetime of 300 s. On the bus a message
takes ${busMessageBytes(redis).toLocaleString('en-US')} bytes, as many as ${Math.round(busMessageBytes(redis) / redis.delivery.bytes)} deliveries.`;
}

function validationNote(validated) {
  const worst = Math.max(...validated.flatMap(({ deviations }) => Object.values(deviations).map(Math.abs)));
  const { instances, users, ratePerInstance, maxEntries } = SMALL_FLEET;
  return `${instances} instances, ${users.toLocaleString('en-US')} users, ${ratePerInstance} requests per instance and second, \`maxEntries\` ${maxEntries}, request by request with real caches. Figures are
simulated, and in brackets how far the formula is off. **The greatest deviation is ${percent(worst)}**; above ${percent(ALLOWED_DEVIATION)} the run fails. What happens too rarely to be counted is left out.
A lifetime of 0 is a fleet that shares concurrent checks and caches nothing.`;
}

/** Returns the whole report, from which docs/fleet.md quotes. */
export async function markdownReport(validated, redis, bytesPerEntry) {
  const sections = [
    section(tables.callsTable(), NOTES.calls),
    section(tables.storeTable(redis), NOTES.store),
    section(tables.fleetSizeTable(redis), NOTES.size),
    section(tables.memoryTable(bytesPerEntry, redis), NOTES.memory),
    section(tables.broadcastTable(redis), broadcastNote(redis)),
    section(tables.validationTable(validated), validationNote(validated)),
  ];
  const head = '# Fleet simulation\n\nWritten by `npm run bench:fleet`; not edited by hand.';
  const chart =
    '![Requests that reach the session service, by lifetime and by size of the fleet](scaling.svg)';
  const markdown = [head, assumptions(redis, bytesPerEntry), chart, ...sections].join('\n\n');
  return formatMarkdown(markdown);
}

function section({ title, heads, rows }, note) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    `## ${title}`,
    note,
    [line(heads), line(heads.map(() => '---:')), ...rows.map(line)].join('\n'),
  ].join('\n\n');
}

/** What the store of a modelled fleet needs, at the prices measured. */
export function storeCost({ callsWithStore, reads, polls, writes, storedSessions }, { operations, session }) {
  const found = reads - callsWithStore;
  const microseconds =
    (found + polls) * operations.read.processorMicroseconds +
    callsWithStore * operations.claim.processorMicroseconds +
    writes * operations.write.processorMicroseconds;
  return {
    operations: reads + polls + writes,
    megabytesPerSecond: ((found + writes) * session.valueBytes) / 1e6,
    gigabytes: (storedSessions * session.bytes) / 1e9,
    processors: microseconds / 1e6,
  };
}

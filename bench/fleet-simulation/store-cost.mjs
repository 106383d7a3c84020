/**
 * A found session is compared with three revocation keys, each of which a Cluster may hold on another node.
 */
const REVOCATION_KEYS = 3;

/** Returns the resources that the store of a modelled fleet needs, at the measured costs. */
export function storeCost({ callsWithStore, reads, writes, storedSessions }, { operations, session }) {
  const found = reads - callsWithStore;
  const microseconds =
    found * operations.read.processorMicroseconds +
    callsWithStore * operations.miss.processorMicroseconds +
    writes * operations.write.processorMicroseconds;
  return {
    operations: reads + writes + found,
    operationsInCluster: reads + writes + found * REVOCATION_KEYS,
    megabytesPerSecond: ((found + writes) * session.valueBytes) / 1e6,
    gigabytes: (storedSessions * session.bytes) / 1e9,
    processors: (microseconds + found * operations.revocations.processorMicroseconds) / 1e6,
    processorsInCluster:
      (microseconds + found * REVOCATION_KEYS * operations.revocation.processorMicroseconds) / 1e6,
  };
}

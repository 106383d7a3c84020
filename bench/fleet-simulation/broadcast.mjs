const SECONDS_PER_DAY = 86_400;
/**
 * A tombstone outlives every cache entry of its session: the longest lifetime, plus a call that may be in
 * flight.
 */
const MARK_SECONDS = 300 + 3;
/**
 * Overhead of a message on the cluster bus of Redis 7, in bytes: its header has a bit for each of the 16,384
 * slots.
 */
const BUS_HEADER_BYTES = 2_256;

/** Returns the bytes of a message on the cluster bus. */
export function busMessageBytes({ delivery }) {
  return BUS_HEADER_BYTES + delivery.bytes;
}

/**
 * Returns the cost of publishing each sign-out to every instance. Plain: an instance subscribes at one node,
 * and each node forwards every message to all others. Sharded: a message stays at the node of its channel,
 * and an instance subscribes at all nodes.
 */
export function broadcast({ instances, users, nodes, signOutsPerUserAndDay, isSharded }, redis) {
  const { delivery, mark } = redis;
  const signOuts = (users * signOutsPerUserAndDay) / SECONDS_PER_DAY;
  const deliveries = signOuts * instances;
  const busMessages = isSharded ? 0 : signOuts * (nodes - 1);
  return {
    signOuts,
    deliveries,
    deliveriesPerNode: deliveries / nodes,
    messagesPerNode: isSharded ? signOuts / nodes : signOuts,
    busMessages,
    busMegabytes: (busMessages * busMessageBytes(redis)) / 1e6,
    megabytes: (deliveries * delivery.bytes) / 1e6,
    processors: (deliveries * delivery.processorMicroseconds) / 1e6,
    markMegabytes: (signOuts * MARK_SECONDS * mark.bytes) / 1e6,
    subscriptions: isSharded ? instances * nodes : instances,
  };
}

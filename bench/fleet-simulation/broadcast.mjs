const SECONDS_PER_DAY = 86_400;
/** The mark of an ended session outlives every memory of it: the longest lifetime, and a call that may still be under way. */
const MARK_SECONDS = 300 + 3;
/** What a message on the cluster bus of Redis 7 weighs beside its content: its header holds a bit for each of the 16,384 slots. */
const BUS_HEADER_BYTES = 2_256;

/** Bytes of a message on the cluster bus. */
export function busMessageBytes({ delivery }) {
  return BUS_HEADER_BYTES + delivery.bytes;
}

/**
 * What it costs to tell every instance of each sign-out. Plain: an instance listens at one node, and each node passes every message on to all
 * others. Sharded: a message stays at the node of its channel, and an instance listens at all nodes.
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

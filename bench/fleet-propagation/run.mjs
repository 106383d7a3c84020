// Measures how soon the instances of an application hear of a sign-out on one of them: each in a process of its own, with a Redis and a
// session service on this machine. Needs redis-server, and the library built (npm run build:lib).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSessionService } from 'nestjs-session-auth/testing';
import { RedisProcess } from '../fleet-simulation/redis-process.mjs';

const INSTANCES = 8;
const SIGN_OUTS = 200;
const WARM_UP = 20;

const redis = await RedisProcess.start();
const service = await startSessionService();
const program = fileURLToPath(new URL('instance.mjs', import.meta.url));
const instances = Array.from({ length: INSTANCES }, () => fork(program, [service.url, redis.port]));

/** Resolves with the messages of this kind about this token, one of each process. */
function told(processes, kind, token) {
  return Promise.all(
    processes.map(
      (one) =>
        new Promise((resolve) => {
          const hear = (message) => {
            if (message[kind] !== token) return;
            one.off('message', hear);
            resolve(message);
          };
          one.on('message', hear);
        }),
    ),
  );
}

async function allListen() {
  while (!(await redis.cli('PUBSUB', 'NUMSUB', 'session-auth:messages')).endsWith(`\n${INSTANCES}`)) await setTimeout(50);
}

/** One session that all remember, signed out on one of them; how long the others then took. */
async function measure(index) {
  const token = service.signInAs({}, `token-${index}`);
  const verified = told(instances, 'verified', token);
  for (const one of instances) one.send({ verify: token });
  await verified;
  const here = instances[index % INSTANCES];
  const others = instances.filter((one) => one !== here);
  const [heard, settled] = [told(others, 'ended', token), told([here], 'signedOut', token)];
  here.send({ signOut: token });
  const [{ started, settled: at }] = await settled;
  return (await heard).map((message) => ({ fromStart: message.at - started, fromSettled: message.at - at }));
}

function figures(name, values) {
  const sorted = values.toSorted((one, other) => one - other);
  const quantile = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1);
  return `${name}: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, most ${quantile(1)} ms`;
}

try {
  await told(instances, 'ready', true);
  await allListen();
  const measured = [];
  for (let index = 0; index < WARM_UP + SIGN_OUTS; index += 1) {
    const times = await measure(index);
    if (index >= WARM_UP) measured.push(...times);
  }
  console.log(`${INSTANCES} instances, ${SIGN_OUTS} sign-outs, ${measured.length} times that another instance heard of one`);
  console.log(
    figures(
      'since signOut() was called',
      measured.map(({ fromStart }) => fromStart),
    ),
  );
  console.log(
    figures(
      'since it settled (below 0: heard before)',
      measured.map(({ fromSettled }) => fromSettled),
    ),
  );
} finally {
  const ended = instances.map((one) => once(one, 'exit'));
  for (const one of instances) one.disconnect();
  await Promise.all(ended);
  await service.close();
  redis.stop();
}

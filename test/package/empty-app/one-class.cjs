// An application reaches the package by `require` and by `import`, in either order, and gets the same classes:
// with two of each, injection and `instanceof` would fail.
const assert = require('node:assert/strict');

const [first] = process.argv.slice(2);

/** An entry of the package, reached both ways. */
async function bothOf(entry) {
  const early = first === 'require' ? require(entry) : await import(entry);
  const late = first === 'require' ? await import(entry) : require(entry);
  for (const name of new Set([...Object.keys(early), ...Object.keys(late)]))
    assert.ok(
      late[name] === early[name],
      `${name} of ${entry} is another one when the first to reach it is ${first}`,
    );
  assert.ok(Object.keys(early).length > 0, `${entry} exports nothing`);
  return { early, late };
}

async function check() {
  await bothOf('nestjs-session-auth');
  for (const entry of ['diagnostics', 'sockets', 'testing']) await bothOf(`nestjs-session-auth/${entry}`);
  const [store, errors, redis] = [
    await bothOf('nestjs-session-auth/store'),
    await bothOf('nestjs-session-auth/errors'),
    await bothOf('nestjs-session-auth/redis'),
  ];

  const { SessionStore } = store.early;
  const { InvalidConfigurationError } = errors.early;
  const { RedisSessionStore } = redis.late;
  const redisStore = new RedisSessionStore({ redis: { pipeline: () => undefined } });
  assert.ok(
    redisStore instanceof SessionStore,
    'RedisSessionStore extends the SessionStore of the store entry',
  );
  assert.ok(SessionStore.isOne(redisStore));
  assert.throws(() => new RedisSessionStore({}), InvalidConfigurationError);
}

// A program that ends before its checks do has not succeeded.
process.exitCode = 1;
void check().then(() => {
  process.exitCode = 0;
});

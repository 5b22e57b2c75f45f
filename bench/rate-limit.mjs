#!/usr/bin/env node
// node bench/rate-limit.mjs: compares decisions per second with rate-limiter-flexible, alternating in one process.
// With PLINTH_TEST_REDIS_URL, also measures Redis. Needs a build (`npm run build`).
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';
import { SystemClock, SystemRandom } from '../packages/kernel/dist/index.js';
import { Callers } from '../packages/ratelimit/dist/model/caller.js';
import { DEFAULT_RULES } from '../packages/ratelimit/dist/model/limit-store.js';
import { makePlan } from '../packages/ratelimit/dist/model/plan.js';
import { PrimaryLimitRules } from '../packages/ratelimit/dist/model/primary-limits.js';
import { ResourceTable } from '../packages/ratelimit/dist/model/resource.js';
import { MemoryStore } from '../packages/ratelimit/dist/storage/memory/memory-store.js';
import { RedisStore } from '../packages/ratelimit/dist/storage/redis/redis-store.js';

// These are dependencies of the package and the tests, not of the root package.
const find = (folder) => createRequire(new URL(`../${folder}/package.json`, import.meta.url));
const { Redis } = find('packages/ratelimit')('ioredis');
const { RateLimiterMemory, RateLimiterRedis } = find('tests')('rate-limiter-flexible');

const IDENTITY_COUNT = 1_000;
const ROUND_COUNT = 5;
const MEMORY_DECISIONS = 500_000;
const REDIS_DECISIONS = 6_000;
const IN_FLIGHT = 100;
const BUCKET_COUNT = 1_000_000;
/** High enough that no request is rejected. A rejection is cheaper than an admission in both libraries. */
const LIMIT = 2_000_000_000;

const clock = new SystemClock();
const random = new SystemRandom(clock);
const resources = new ResourceTable({ core: { limit: LIMIT } });
const callersOf = new Callers(new PrimaryLimitRules(resources));
const callers = Array.from({ length: IDENTITY_COUNT }, (_, id) => callersOf.ofKey(`user:${id}`));
const rules = { ...DEFAULT_RULES, pointsRest: LIMIT, concurrency: LIMIT };
const planOf = (secondary) =>
  makePlan({
    resource: resources.need('core'),
    endpoint: '/things/:id',
    method: 'GET',
    cost: {},
    secondary,
  });
const all = planOf('all');
const primary = planOf('none');

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.versions.node}`,
);
await benchMemory();
await benchLatency();
benchBuckets();
if (process.env['PLINTH_TEST_REDIS_URL']) await benchRedis(process.env['PLINTH_TEST_REDIS_URL']);
else console.log('Redis skipped: set PLINTH_TEST_REDIS_URL to measure it');

async function benchMemory() {
  const store = new MemoryStore({ clock, rules });
  const flexible = new RateLimiterMemory({ points: LIMIT, duration: 3_600 });
  const ours = (plan) => () => {
    for (let index = 0; index < MEMORY_DECISIONS; index += 1) {
      store.finish(store.admit(callers[index % IDENTITY_COUNT], plan));
    }
  };
  await compare('memory', MEMORY_DECISIONS, {
    'plinth, one limit': ours(primary),
    'plinth, all limits': ours(all),
    'rate-limiter-flexible, one limit': async () => {
      for (let index = 0; index < MEMORY_DECISIONS; index += 1) {
        await flexible.consume(callers[index % IDENTITY_COUNT].key);
      }
    },
  });
}

/** Measures one decision at a time, as in a server. */
async function benchLatency() {
  const store = new MemoryStore({ clock, rules });
  const times = new Float64Array(200_000);
  for (let index = 0; index < times.length; index += 1) {
    const startNs = process.hrtime.bigint();
    store.finish(store.admit(callers[index % IDENTITY_COUNT], all));
    times[index] = Number(process.hrtime.bigint() - startNs) / 1000;
  }
  times.sort();
  console.log(
    `memory, admit and finish: p50 ${at(times, 0.5).toFixed(2)} us, p99 ${at(times, 0.99).toFixed(2)} us`,
  );
}

function benchBuckets() {
  globalThis.gc?.();
  const before = usedBytes();
  const store = new MemoryStore({ clock, maxIdentityCount: 2 * BUCKET_COUNT });
  for (let index = 0; index < BUCKET_COUNT; index += 1) {
    const key = `ip:10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    store.finish(store.admit(callersOf.ofAddress(key, key), all));
  }
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const sizeMb = (usedBytes() - before) / 1e6;
  const note = globalThis.gc ? '' : ' (includes garbage; run with --expose-gc)';
  console.log(`${store.stats.bucketCount} address buckets: ${sizeMb.toFixed(0)} MB${note}`);
}

function usedBytes() {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function benchRedis(url) {
  const prefix = `bench:${random.uuidV4()}:`;
  const store = new RedisStore({ url, clock, random, rules, prefix, timeoutMs: 10_000 });
  await store.start();
  const ahead = new RedisStore({
    ...{ url, clock, random, rules, timeoutMs: 10_000 },
    prefix: `${prefix}ahead:`,
    reserve: 100,
  });
  await ahead.start();
  const options = { enableAutoPipelining: true, enableOfflineQueue: false, lazyConnect: true };
  const storeClient = new Redis(url, options);
  await storeClient.connect();
  const flexible = new RateLimiterRedis({
    storeClient,
    keyPrefix: `${prefix}flexible`,
    points: LIMIT,
    duration: 3_600,
  });
  const ours =
    (plan, own = store, identityCount = IDENTITY_COUNT) =>
    () =>
      inFlight(REDIS_DECISIONS, async (index) => {
        own.finish(await own.admit(callers[index % identityCount], plan));
      });
  await compare(`Redis, ${IN_FLIGHT} in flight`, REDIS_DECISIONS, {
    'plinth, one limit': ours(primary),
    'plinth, one limit, 100 units ahead of ten': ours(primary, ahead, 10),
    'plinth, all limits': ours(all),
    'rate-limiter-flexible, one limit': () =>
      inFlight(REDIS_DECISIONS, (index) => flexible.consume(callers[index % IDENTITY_COUNT].key)),
    // A Plinth decision checks the same number of counters: primary, points, CPU time, concurrency and its release.
    'rate-limiter-flexible, five limits': () =>
      inFlight(REDIS_DECISIONS, async (index) => {
        const { key } = callers[index % IDENTITY_COUNT];
        await Promise.all([0, 1, 2, 3, 4].map((limit) => flexible.consume(`${key}:${limit}`)));
      }),
  });
  const times = { 'plinth, all limits': [], 'rate-limiter-flexible, one limit': [] };
  for (let index = 0; index < 2_000; index += 1) {
    const caller = callers[index % IDENTITY_COUNT];
    const startMs = performance.now();
    store.finish(await store.admit(caller, all));
    const middleMs = performance.now();
    await flexible.consume(caller.key);
    times['plinth, all limits'].push(middleMs - startMs);
    times['rate-limiter-flexible, one limit'].push(performance.now() - middleMs);
  }
  for (const [name, list] of Object.entries(times)) {
    list.sort((a, b) => a - b);
    console.log(
      `Redis, one at a time, ${name}: p50 ${at(list, 0.5).toFixed(2)} ms, p99 ${at(list, 0.99).toFixed(2)} ms`,
    );
  }
  const keys = await storeClient.keys(`${prefix}*`);
  for (let from = 0; from < keys.length; from += 1_000) {
    await storeClient.unlink(...keys.slice(from, from + 1_000));
  }
  storeClient.disconnect();
  await store.close();
  await ahead.close();
}

/** Alternates the variants, so that other load on the machine affects all of them. */
async function compare(title, count, runs) {
  const best = new Map();
  for (let round = 0; round < ROUND_COUNT; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const startMs = performance.now();
      await run();
      const perSecond = count / ((performance.now() - startMs) / 1000);
      best.set(name, [...(best.get(name) ?? []), perSecond]);
    }
  }
  const median = (list) =>
    at(
      [...list].sort((a, b) => a - b),
      0.5,
    );
  const reference = median(best.get('rate-limiter-flexible, one limit'));
  for (const [name, list] of best) {
    const perSecond = median(list);
    console.log(
      `${title}: ${name.padEnd(41)} ${Math.round(perSecond).toLocaleString('en').padStart(10)} decisions/s  ${(perSecond / reference).toFixed(2)}x`,
    );
  }
}

async function inFlight(count, run) {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function at(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

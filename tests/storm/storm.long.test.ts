// Source: docs/SEVERAL-NODES.md, "Failures"; accounts, section 5; webhooks, section 11; rate-limits, section 15;
// gamedata, section 6.
// PLINTH_STORM_SEC and PLINTH_STORM_SEED set its duration and its seed.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { it } from 'node:test';
import { POSTGRES_URL, until } from '../harness/index.js';
import { noOwnRedis } from '../wire/ratelimit/own-redis.js';
import { AccountClients } from './account-clients.js';
import { EditorClients } from './editor-clients.js';
import { EventClients } from './event-clients.js';
import { LimitClients } from './limit-clients.js';
import { ARRIVAL_MS } from './storm-clients.js';
import { StormPlatform } from './storm-platform.js';
import { type FaultKind, Weather } from './weather.js';

const LENGTH_MS = Number(process.env['PLINTH_STORM_SEC'] ?? 600) * 1000;
const SEED = Number(process.env['PLINTH_STORM_SEED'] ?? randomInt(1_000_000));
const WATCH_MS = 500;
const KINDS: readonly FaultKind[] = ['kill', 'stop', 'restart', 'database', 'redis'];

it('three nodes lose, duplicate or mix up no data while nodes and stores fail and recover', {
  skip: POSTGRES_URL === undefined ? 'set PLINTH_TEST_POSTGRES_URL' : noOwnRedis,
}, async (context) => {
  const report = (line: string) => context.diagnostic(line);
  report(`seed ${SEED}`);
  await using platform = await StormPlatform.start(SEED);
  const weather = new Weather(platform, { seed: SEED, report });
  const clients = [
    await AccountClients.start(platform, SEED),
    await EventClients.start(platform, weather, SEED),
    new LimitClients(platform, weather),
    new EditorClients(platform, SEED),
  ];
  const watching = setInterval(() => platform.noteEnded(), WATCH_MS);
  try {
    let isOver = false;
    const running = Promise.all(clients.map((each) => each.run(() => isOver)));
    const raging = weather.rage(LENGTH_MS);
    try {
      await Promise.race([raging, running]);
    } finally {
      isOver = true;
      weather.end();
      await raging;
    }
    await running;
    for (const { server, index } of platform.nodes) {
      const isReady = async () => (await server?.http.send('/ready'))?.status === 200;
      await until(isReady, `node ${index} is ready`, ARRIVAL_MS);
    }
    for (const each of clients) await each.check();
    assert.deepEqual(platform.complaints, []);
  } finally {
    clearInterval(watching);
    for (const each of clients) each.close();
    const faults = KINDS.map((kind) => [kind, weather.count(kind)]);
    const figures = [platform, ...clients].flatMap((each) => Object.entries(each.figures));
    const told = [...faults, ...figures].map(([name, count]) => `${name} ${count}`);
    report(told.join(', '));
  }
});

// Source: docs/LOAD-BALANCERS.md, "HAProxy": the documented configuration, with the addresses of this test.
// Own process: nodes are stopped by signals.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  freePorts,
  HttpClient,
  POSTGRES_URL,
  ServerProcess,
  TestDatabase,
  temporaryFolder,
} from '../../harness/index.js';

const TOKEN = 'editor-token-for-tests';
const RESTART_COUNT = 6;
const PER_SEC = 100;
const DOCUMENT = new URL('../../../../docs/LOAD-BALANCERS.md', import.meta.url);

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const why = hasHaproxy
  ? POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL'
  : 'there is no haproxy';

it('a rolling restart behind HAProxy fails no request', {
  skip: why,
  timeout: 180_000,
}, async (context) => {
  const database = await TestDatabase.create();
  context.after(() => database[Symbol.asyncDispose]());
  const [front = 0, ...ports] = await freePorts(3);
  const folder = await temporaryFolder();
  const start = async (port: number, dataDir: string): Promise<ServerProcess> =>
    await ServerProcess.start({
      dataDir,
      flags: [
        ...['--without-auth', '--services=gamedata', `--http-bind=127.0.0.1:${port}`],
        ...[`--server-database-url=${database.url}`, '--server-drain-ms=4000'],
      ],
      env: {
        PLINTH_MASTER_KEY: 'one key for all the nodes of this test',
        PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN,
      },
    });
  const nodes = await Promise.all(ports.map((port) => start(port, join(folder, `node-${port}`))));
  context.after(async () => {
    for (const node of nodes) await node.close();
  });
  const config = join(folder, 'haproxy.cfg');
  await writeFile(config, await documented(front, ports));
  const proxy = spawn('haproxy', ['-db', '-f', config], { stdio: 'ignore' });
  context.after(async () => {
    const ended = once(proxy, 'exit');
    proxy.kill('SIGKILL');
    await ended;
  });
  const client = new HttpClient(`http://127.0.0.1:${front}`);
  const isServed = async () =>
    (await client.send('/api/items?limit=1').catch(() => undefined))?.status === 200;
  for (const endMs = Date.now() + 20_000; !(await isServed()); await sleep(50)) {
    assert.ok(Date.now() < endMs, 'nobody answers behind HAProxy');
  }

  const outcomes = new Map<string, number>();
  const note = (outcome: unknown): void => {
    const name = String(outcome);
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  };
  let isOver = false;
  const sending: Promise<void>[] = [];
  const flood = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const id = `thing-${turn}`;
      const sent =
        turn % 10 > 0
          ? client.send('/api/items?limit=1')
          : client.send('/api/editor/items', {
              method: 'POST',
              headers: {
                authorization: `Bearer ${TOKEN}`,
                'content-type': 'application/json',
                'idempotency-key': id,
              },
              body: JSON.stringify({ id, name: id, category: 'barter' }),
            });
      sending.push(sent.then(({ status }) => note(status), note));
      await sleep(1000 / PER_SEC);
    }
  })();
  for (let count = 0; count < RESTART_COUNT; count++) {
    const index = count % nodes.length;
    const old = nodes[index] ?? assert.fail();
    await sleep(500);
    await old.stop();
    const again = await start(ports[index] ?? 0, old.dataDir);
    nodes[index] = again;
    for (const endMs = Date.now() + 20_000; (await again.http.send('/ready')).status !== 200; ) {
      assert.ok(Date.now() < endMs, 'the node is not ready');
      await sleep(50);
    }
    // HAProxy uses the node again after two successful checks.
    await sleep(2500);
  }
  isOver = true;
  await flood;
  await Promise.all(sending);
  assert.deepEqual([...outcomes.keys()], ['200'], JSON.stringify([...outcomes]));
});

async function documented(front: number, ports: readonly number[]): Promise<string> {
  const text = await readFile(DOCUMENT, 'utf8');
  const block = /```haproxy\n([\s\S]*?)```/.exec(text)?.[1] ?? assert.fail('no configuration');
  return block
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${front}`)
    .replace('10.0.0.11:8181', `127.0.0.1:${ports[0]}`)
    .replace('10.0.0.12:8181', `127.0.0.1:${ports[1]}`);
}

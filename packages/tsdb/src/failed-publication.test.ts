// Source: docs/adr/0082-what-stands-behind-a-commit.md. The process lives on when a call fails: no row twice, no file for ever.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock } from '@plinth/kernel/testing';
import type { EngineCall } from './storage/duckdb/engine-watch.js';
import { flushNode } from './testing/flush-node.js';
import { openTestNode } from './testing/open-test-node.js';
import { ask, writeLines } from './testing/write-and-ask.js';

const KINDS: readonly (EngineCall | string)[] = [
  'engine.write',
  'engine.query',
  'engine.copy',
  'engine.append',
  'engine.flush',
  'object.get',
  'object.adopt',
  'object.delete',
  'catalog.transaction',
];

async function open(context: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-failed-publication-'));
  const faults = new CallFaults();
  const clock = new ManualClock();
  const start = () => openTestNode(dataDir, { clock, faults });
  let node = await start();
  context.after(async () => {
    faults.heal();
    await node.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const flush = (): Promise<readonly string[]> => flushNode(node);
  return {
    faults,
    flush,
    write: (lines: readonly string[]) => writeLines(node, lines),
    ask: async (text: string) => (await ask(node, text)).slice(1),
    restart: async () => {
      await node.close();
      node = await start();
    },
    filesOnDisk: async () => {
      const found = await readdir(join(dataDir, 'objects', 'tsdb'), { recursive: true });
      return found.filter((name) => name.endsWith('.parquet')).length;
    },
  };
}

it('counts a row once after a flush that failed behind its commit was tried again', async (context) => {
  const { faults, write, flush, ask, restart } = await open(context);
  await write(['m,t=a v=1i 1']);
  await flush();
  await write(['m,t=a v=2i 1']);
  faults.fail({ kind: 'engine.copy', at: 2, count: Number.POSITIVE_INFINITY });
  await flush(); // An overlay, which is not merged: its points are known as repeated.
  await write(['m,t=a v=7i 2']);
  faults.heal();
  for (let at = 1; at <= 12; at++) {
    // Somewhere among these is what a flush does last, whichever statements come before it.
    faults.fail({ kind: 'engine.write', at, count: Number.POSITIVE_INFINITY });
    await flush().catch(() => undefined);
    faults.heal();
  }
  await flush();
  await restart();
  assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['2 | 9']);
});

for (const kind of KINDS) {
  it(`has every row once, and no file that nobody knows, after each failure of ${kind}`, async (context) => {
    const { faults, write, flush, ask, filesOnDisk, restart } = await open(context);
    let sum = 0;
    for (let at = 1; at <= 24; at++) {
      // Every other point is written twice, every second time in a flush of its own.
      await write([`m,t=a v=${at}i ${at}`, `m,t=s${at} v=0i ${at}`]);
      if (at % 4 === 0) await flush();
      if (at % 2 === 0) await write([`m,t=a v=${at * 2}i ${at}`]);
      sum += at % 2 === 0 ? at * 2 : at;
      faults.fail({ kind, at, count: 2 });
      await flush().catch(() => undefined);
      faults.heal();
      assert.deepEqual(
        await ask('SELECT count(v), sum(v) FROM m'),
        [`${at * 2} | ${sum}`],
        `${at}`,
      );
    }
    const files = await flush();
    assert.ok((await filesOnDisk()) >= files.length);
    await restart();
    assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), [`48 | ${sum}`]);
    assert.equal(await filesOnDisk(), (await flush()).length);
  });
}

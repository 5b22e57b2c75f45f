// Source: gamedata, section 6.2 (history) and docs/spec/gamedata.md, section 6.2.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { POSTGRES_URL, ServerProcess } from '../../harness/index.js';
import type { WireRecord } from './game-client.js';
import { done, edit, gamedataNodes, NODE } from './shared-nodes.js';

interface Page {
  readonly total: number;
  readonly count: number;
  readonly next: string | null;
  readonly entries: readonly { readonly seq: number; readonly patch: readonly object[] }[];
}

const MOST_BYTES = 6_291_456;
const RECORD_BYTES = 200_000;
const CHANGES = 40;
const FLAGS = ['--gamedata-keep-history-bytes', '2097152'];

/** A record that is as large as one may be, and another at each number. */
const large = (number: number): object => ({
  tags: Array.from({ length: RECORD_BYTES / 64 }, (_, i) => `${number} ${i} `.padEnd(61, 'x')),
});

async function pageAt(server: ServerProcess, query: string): Promise<Page & { size: number }> {
  const { json } = await done(server, 'GET', `history?${query}`);
  return { ...(json as unknown as Page), size: JSON.stringify(json).length };
}

async function holdsItsBounds(server: ServerProcess): Promise<void> {
  await done(server, 'POST', 'items', { id: 'large', name: 'Large', ...large(0) });
  for (let n = 1; n < CHANGES; n += 1) await done(server, 'PATCH', 'items/large', large(n));

  // All of it, page by page, none of them large.
  const seqs: number[] = [];
  let query: string | undefined = 'type=items&limit=1000';
  while (query !== undefined) {
    const page: Page & { size: number } = await pageAt(server, query);
    assert.ok(page.size < MOST_BYTES, `${page.size} bytes in one page`);
    assert.deepEqual([page.total, page.entries.length], [CHANGES, page.count]);
    seqs.push(...page.entries.map(({ seq }) => seq));
    query = page.next?.split('?')[1];
  }
  assert.equal(new Set(seqs).size, CHANGES);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => b - a),
  );

  // What is not published can all be taken back.
  for (let n = CHANGES - 2; n >= CHANGES - 4; n -= 1) {
    await done(server, 'POST', 'undo');
    const { json } = await done(server, 'GET', 'items/large');
    assert.deepEqual((json as WireRecord)['tags'], Reflect.get(large(n), 'tags'));
  }
  await done(server, 'POST', 'redo');

  // Of what is published no more than the setting says, and the first change of the record: the creation has no before.
  await done(server, 'POST', 'save');
  const { total } = await pageAt(server, 'type=items&limit=0');
  assert.ok(total >= 4 && total <= 7, `${total} changes of ${2 * RECORD_BYTES} bytes are kept`);
}

describe('the history of large records', () => {
  it('is bounded in bytes in a folder, kept and answered', async () => {
    await using server = await ServerProcess.start({
      ...NODE,
      flags: [...NODE.flags, ...FLAGS],
    });
    await holdsItsBounds(server);

    // Short texts that all change: each with its path they would be ten times as long as the record.
    const at = 'items/large';
    for (const tag of ['a', 'b']) {
      await done(server, 'PATCH', at, { tags: Array.from({ length: 10_000 }, () => tag) });
    }
    const { size, entries } = await pageAt(server, 'type=items&limit=1');
    assert.ok(size < 60_000, `${size} bytes for a record of 40,000`);
    assert.equal(entries[0]?.patch.length, 1);
    // A small change of it is told as such.
    await done(server, 'PATCH', at, { name: 'Small' });
    const [last] = (await pageAt(server, 'type=items&limit=1')).entries;
    assert.ok(last?.patch.some((step) => Reflect.get(step, 'path') === '/name'));
    assert.equal((await edit(server, 'GET', 'history?limit=1001')).status, 400);
  });

  it('is bounded in bytes in PostgreSQL, kept and answered', {
    skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
  }, async () => {
    await using nodes = await gamedataNodes();
    await holdsItsBounds(await nodes.start({ flags: FLAGS }));
  });
});

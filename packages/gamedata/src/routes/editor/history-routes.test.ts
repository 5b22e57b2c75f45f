// Source: gamedata, section 6.2.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { POSTGRES_URL, PostgresDatabase } from '@plinth/kernel/testing';
import { COMMUNITY } from '../../testing/community-files.js';
import { TestGameData, type WireRecord } from '../../testing/test-game-data.js';

interface Page {
  readonly total: number;
  readonly count: number;
  readonly next: string | null;
  readonly entries: readonly { readonly seq: number; readonly patch: readonly object[] }[];
}

const MOST_BYTES = 6_291_456;
const RECORD_BYTES = 200_000;
const CHANGES = 40;
const FLAGS = { 'gamedata-keep-history-bytes': '2097152' };

/** A record of the maximum size, different for each number. */
const large = (number: number): object => ({
  tags: Array.from({ length: RECORD_BYTES / 64 }, (_, i) => `${number} ${i} `.padEnd(61, 'x')),
});

async function pageAt(service: TestGameData, query: string): Promise<Page & { size: number }> {
  const { json, bytes } = await service.done('GET', `history?${query}`);
  return { ...(json as unknown as Page), size: bytes.length };
}

async function holdsItsBounds(service: TestGameData): Promise<void> {
  await service.done('POST', 'items', { id: 'large', name: 'Large', ...large(0) });
  for (let n = 1; n < CHANGES; n += 1) await service.done('PATCH', 'items/large', large(n));

  // Reads all entries page by page; no page is large.
  const seqs: number[] = [];
  let query: string | undefined = 'type=items&limit=1000';
  while (query !== undefined) {
    const page: Page & { size: number } = await pageAt(service, query);
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

  // All unpublished changes can be undone.
  for (let n = CHANGES - 2; n >= CHANGES - 4; n -= 1) {
    await service.done('POST', 'undo');
    const { json } = await service.done('GET', 'items/large');
    assert.deepEqual(json['tags'], Reflect.get(large(n), 'tags'));
  }
  await service.done('POST', 'redo');

  // Published entries are limited by the setting, plus the first change of the record; a creation
  // has no previous state.
  await service.done('POST', 'save');
  const { total } = await pageAt(service, 'type=items&limit=0');
  assert.ok(total >= 4 && total <= 7, `${total} changes of ${2 * RECORD_BYTES} bytes are kept`);
}

describe('change history', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());
  beforeEach(() => service.done('POST', 'versions/1/restore'));

  it('contains patches; undo, redo and discard follow it', async () => {
    await service.edit('POST', 'items', { id: 'p1', name: 'First', rarity: 'rare' });
    const patched = await service.edit('PATCH', 'items/p1', { name: 'Second', rarity: null });
    assert.deepEqual([patched.json.data['name'], patched.json.data['rarity']], ['Second', null]);
    await service.edit('POST', 'undo');
    assert.equal((await service.edit('GET', 'items/p1')).json['name'], 'First');
    await service.edit('POST', 'redo');
    assert.equal((await service.edit('GET', 'items/p1')).json['name'], 'Second');
    const { entries } = (await service.edit('GET', 'history?type=items&id=p1')).json as unknown as {
      entries: { op: string; seq: number }[];
    };
    assert.deepEqual(
      entries.map(({ op }) => op),
      ['redo', 'undo', 'update', 'create'],
    );
    const stale = await service.edit('POST', 'undo', { seq: entries[3]?.seq });
    assert.equal(stale.status, 409);
    assert.equal((await service.edit('POST', 'discard/items')).json['discarded'], 1);
    assert.equal((await service.edit('GET', 'items/p1')).status, 404);
  });

  const idsOf = async (): Promise<readonly string[]> => {
    const { json } = await service.edit('GET', 'items?limit=5000');
    return (json.data as unknown as WireRecord[]).map(({ id }) => id);
  };

  it('undoes deletions to the former positions of the records, also after a restart', async () => {
    const before = await idsOf();
    const gone = [before[0], before[7], before[8], before.at(-1)];
    for (const id of gone) {
      await service.done('DELETE', `items/${id}?force=true`);
    }
    await service.edit('POST', 'items', { id: 'later', name: 'Later' });
    await service.edit('DELETE', 'items/later');
    const { length } = [...gone, 'created', 'deleted'];
    for (let count = 0; count < length; count += 1) {
      await service.done('POST', 'undo');
    }
    assert.deepEqual(await idsOf(), before);
    await service.restart();
    assert.deepEqual(await idsOf(), before);
  });

  it('leaves discarded changes out of undo and of later versions', async () => {
    await service.edit('POST', 'items', { id: 'thrown-away', name: 'Thrown away' });
    assert.equal((await service.edit('POST', 'discard')).json['discarded'], 1);
    assert.deepEqual((await service.edit('POST', 'undo')).json, {
      error: 'nothing to undo',
      code: 'conflict',
    });
    await service.edit('POST', 'items', { id: 'kept', name: 'Kept' });
    await service.edit('POST', 'save');
    const { json } = await service.edit('GET', 'history?id=thrown-away');
    const [entry] = json['entries'] as WireRecord[];
    assert.deepEqual([entry?.['discarded'], entry?.['version']], [true, undefined]);
  });

  it('is bounded, and keeps everything that is still needed', async () => {
    await using small = await TestGameData.start({ 'gamedata-keep-history': '10' });
    const path = 'import?format=tarkovdata&mode=replace&publish=true';
    await small.done('POST', path, COMMUNITY);
    const first = 'items/aaaaaaaaaaaaaaaaaaaaaaa1';
    const { quests } = (await small.get('/api/quests')).body;
    const quest = `quests/${quests?.[0]?.id}`;
    await small.done('PATCH', first, { name: 'Crimson card' });
    for (let round = 0; round < 20; round += 1) {
      await small.done('PATCH', quest, { title: `Errand ${round}` });
      if (round % 4 === 3) await small.done('POST', 'save', {});
    }
    const { json } = await small.done('GET', 'history?limit=1000');
    const entries = json['entries'] as { op: string }[];
    // Ten entries, plus the import and the first change of each record.
    assert.equal(json['total'], 13);
    assert.equal(entries[0]?.op, 'publish');
    assert.equal(entries.at(-1)?.op, 'import');
    for (let round = 0; round < 15; round += 1) {
      await small.done('PATCH', quest, { title: `Open ${round}` });
    }
    const [map] = (await small.get<WireRecord[]>('/api/maps')).body;
    await small.done('PATCH', `maps/${map?.id}`, { wiki: null });
    await small.done('POST', 'save/maps', {});
    // All unpublished changes can be undone, regardless of the limit.
    for (let round = 0; round < 15; round += 1) await small.done('POST', 'undo', {});
    await small.done('POST', `${path}&overlay=true`, COMMUNITY);
    const { json: item } = await small.read('/api/items/aaaaaaaaaaaaaaaaaaaaaaa1');
    assert.equal(item['name'], 'Crimson card');
  });

  it('is bounded in bytes in a folder, when stored and served', async () => {
    await using large = await TestGameData.start(FLAGS);
    await holdsItsBounds(large);

    // Many short changed strings: with their paths, a patch would be ten times as long as the record.
    const at = 'items/large';
    for (const tag of ['a', 'b']) {
      await large.done('PATCH', at, { tags: Array.from({ length: 10_000 }, () => tag) });
    }
    const { size, entries } = await pageAt(large, 'type=items&limit=1');
    assert.ok(size < 60_000, `${size} bytes for a record of 40,000`);
    assert.equal(entries[0]?.patch.length, 1);
    // A small change of the record is listed as a patch.
    await large.done('PATCH', at, { name: 'Small' });
    const [last] = (await pageAt(large, 'type=items&limit=1')).entries;
    assert.ok(last?.patch.some((step) => Reflect.get(step, 'path') === '/name'));
    assert.equal((await large.edit('GET', 'history?limit=1001')).status, 400);
  });

  it('is bounded in bytes in PostgreSQL, when stored and served', {
    skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
  }, async () => {
    await using database = await PostgresDatabase.create();
    await using large = await TestGameData.start(FLAGS, database.url);
    await holdsItsBounds(large);
  });
});

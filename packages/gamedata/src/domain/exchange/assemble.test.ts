import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeededRandom, SimFileSystem } from '@plinth/kernel/testing';
import { TextStore } from '../../storage/text-store.js';
import { DataSet } from '../data/data-set.js';
import { assembleSet } from './assemble.js';
import { openImport } from './import-thread.js';

const ITEM_COUNT = 1000;
const CHANGED_COUNT = 40;

it('stores only the changed records of an import', async () => {
  const folder = '/data';
  // The file cannot be removed, so its size can be measured.
  const files = new SimFileSystem(new SeededRandom(1));
  files.remove = async () => {};
  const log = {} as never; // the test expects no log lines
  const texts = new TextStore({ fileSystem: files, folder, log, memoryLimitBytes: 0 });
  const sizeBytes = async () => (await files.stat(`${folder}/texts.tmp`))?.sizeBytes ?? 0;
  const take = async (before: DataSet, changedCount: number): Promise<DataSet> => {
    const items = Array.from({ length: ITEM_COUNT }, (_, n) => ({
      id: `i${n}`,
      name: n < changedCount ? `Lantern ${n}` : `Lamp ${n}`,
      description: 'x'.repeat(400),
      category: 'unknown',
    }));
    const about = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en'] };
    const bytes = Buffer.from(JSON.stringify({ ...about, aliases: {}, kinds: { items } }));
    const updatedAt = '2026-01-01T00:00:00Z';
    const open = await openImport({
      bytes,
      format: 'native',
      updatedAt,
      maxRecordCount: ITEM_COUNT,
    });
    const { set } = await assembleSet(before, open, { isMerge: false, seq: 1, texts });
    await open.close();
    for (const [n, row] of set.tables.items.rows.entries()) {
      const { name } = JSON.parse(row.text) as { name: string };
      assert.equal(name, items[n]?.name);
    }
    return set;
  };
  const first = await take(DataSet.empty(), 0);
  const firstBytes = await sizeBytes();
  assert.ok(firstBytes > ITEM_COUNT * 400);
  await take(first, CHANGED_COUNT);
  const ofOne = firstBytes / ITEM_COUNT;
  const more = (await sizeBytes()) - firstBytes;
  assert.ok(more > 0 && more < 1.5 * CHANGED_COUNT * ofOne, `${more} bytes`);
  await texts.close();
});

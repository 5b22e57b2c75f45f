import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import type { HistoryEntry } from '../model/edition.js';
import type { HistoryBounds } from './edit-history.js';
import { EditionStore } from './edition-store.js';

const CHANGE = fc.record({
  id: fc.integer({ min: 1, max: 60 }),
  // Imports are rare, so that an overlay refers back over hundreds of changes.
  what: fc.oneof(
    { arbitrary: fc.constant('edit'), weight: 500 },
    { arbitrary: fc.constantFrom('create', 'open', 'publish'), weight: 200 },
    { arbitrary: fc.constant('import'), weight: 1 },
  ),
});
type Change = Readonly<{ id: number; what: string }>;

function toEntry({ id, what }: Change, index: number): HistoryEntry {
  const isOfRecord = what !== 'publish' && what !== 'import';
  return {
    seq: index + 1,
    atMs: index,
    actor: 'a',
    op: isOfRecord ? 'update' : (what as 'publish' | 'import'), // ensured by `isOfRecord`
    kind: isOfRecord ? 'items' : null,
    id: isOfRecord ? `i${id}` : null,
    before: isOfRecord && what !== 'create' ? JSON.stringify('é'.repeat(id)) : null,
    after: null,
    replacedBy: null,
    aboutSeq: null,
    version: what === 'open' || what === 'import' ? null : 1,
  };
}

/** Expected entries after the cleanup. */
function keptOf(entries: readonly HistoryEntry[], { count, sizeBytes }: HistoryBounds): number[] {
  const imports = entries.filter(({ op }) => op === 'import');
  const importSeq = imports.at(-1)?.seq ?? 0;
  const first = new Set<string>();
  const fitting = new Set<number>();
  let usedBytes = 0;
  for (const { seq, before } of entries.slice(-count || entries.length).reverse()) {
    usedBytes += before === null ? 0 : Buffer.byteLength(before);
    if (count > 0 && usedBytes <= sizeBytes) fitting.add(seq);
  }
  return entries
    .filter(({ seq, kind, id, before, version }) => {
      const isFirst = seq > importSeq && id !== null && before !== null && !first.has(id);
      if (isFirst) first.add(id);
      const isOpen = kind !== null && version === null;
      return fitting.has(seq) || seq === importSeq || isOpen || isFirst;
    })
    .map(({ seq }) => seq);
}

it('removes the oldest changes, but no unpublished ones and none that an overlay needs', async () => {
  const folder = await temporaryFolder();
  const options = { clock: new SystemClock(), fileSystem: new NodeFileSystem() };
  const relational = await openRelationalStore({ path: join(folder, 'db'), ...options });
  const store = new EditionStore(relational);
  await store.migrate();
  const seqs = async () =>
    (await store.history.page({}, { limit: 10_000, offset: 0 })).entries
      .map(({ seq }) => seq)
      .reverse();
  // Far more than one batch, with retained entries in between.
  const changes = fc.array(CHANGE, { minLength: 700, maxLength: 900 });
  const bounds = fc.record({
    count: fc.integer({ min: 0, max: 100 }),
    sizeBytes: fc.integer({ min: 0, max: 10_000 }),
  });
  await fc.assert(
    fc.asyncProperty(changes, bounds, async (list, keep) => {
      const entries = list.map(toEntry);
      await relational.transaction<{ gamedata_history: object }, void>(async (tx) => {
        await tx.deleteFrom('gamedata_history').execute();
      });
      await store.transaction(async (tx) => {
        for (const entry of entries) await store.history.add(tx, entry);
      });
      await store.history.forget(keep);
      assert.deepEqual(await seqs(), keptOf(entries, keep));
    }),
    { numRuns: caseCount(8) },
  );
  await relational.close();
});

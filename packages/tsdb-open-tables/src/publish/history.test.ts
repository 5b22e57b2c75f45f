// Source: docs/formats/open-tables.md, "Expiry".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasExpired, type PublishedHistory, withoutExpired } from './history.js';

const manifest = (id: string, added: number, removed?: number) => ({
  ...{ id, month: '', filesDigest: '', fileCount: 1, rowCount: 1, firstRowId: 0, filesBytes: 1 },
  ...{ sizeBytes: { plain: 1, jvm: 1 }, added, ...(removed !== undefined && { removed }) },
});
const HISTORY: PublishedHistory = {
  ...{ format: 1, root: '', nextRowId: 0, freshThrough: '', mergedThrough: '' },
  metadata: [1, 2, 3].map((version) => ({ version, timestampMs: version * 100 })),
  snapshots: [1, 2, 3].map((version) => ({
    ...{ version, timestampMs: version * 100, schemaId: version === 1 ? 1 : 2, isFirst: false },
    ...{ fileCount: 0, rowCount: 0, sizeBytes: 0, firstRowId: 0, addedRowCount: 0 },
  })),
  manifests: [manifest('a', 1, 2), manifest('b', 1, 3), manifest('c', 1), manifest('d', 3)],
  schemas: [1, 2].map((id) => ({ id, fields: { plain: [], jvm: [] } })),
};

it('keeps a snapshot for the full time after it was replaced', () => {
  const keepMs = 50;
  assert.equal(hasExpired(HISTORY, 249, keepMs), false);
  assert.equal(hasExpired(HISTORY, 250, keepMs), true);
  const at = (nowMs: number) => {
    const kept = withoutExpired(HISTORY, nowMs, keepMs);
    return [
      kept.snapshots.map(({ version }) => version).join(''),
      kept.metadata.map(({ version }) => version).join(''),
      kept.manifests.map(({ id }) => id).join(''),
      kept.schemas.map(({ id }) => id).join(''),
    ];
  };
  assert.deepEqual(at(249), ['123', '123', 'abcd', '12']);
  assert.deepEqual(at(250), ['23', '23', 'bcd', '2']);
  assert.deepEqual(at(350), ['3', '3', 'cd', '2']);
  assert.deepEqual(at(9999), ['3', '3', 'cd', '2']);
});

it('needs no version to remove metadata files alone', () => {
  const idle = { ...HISTORY, snapshots: HISTORY.snapshots.slice(-1) };
  assert.equal(hasExpired(idle, 9999, 50), false);
  assert.equal(withoutExpired(idle, 9999, 50).metadata.length, 1);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestCatalog, type TestCatalog } from '../testing/open-test-catalog.js';

const at = { database: 'a', table: 'm' };
const CONVERTED = { tags: [], fields: [{ name: 'v', type: 'utf8' }] } as const;

async function withStaged() {
  const opened: TestCatalog = await openTestCatalog();
  await opened.catalog.ensureDatabase('_internal');
  const original = await opened.catalog.createTable({
    ...at,
    tags: [],
    fields: [{ name: 'v', type: 'int64' }],
  });
  const staged = await opened.catalog.replacements.stage(original, CONVERTED);
  return { opened, catalog: opened.catalog, original, staged };
}

it('does not discard a copy that has replaced the table', async () => {
  const { opened, catalog, original, staged } = await withStaged();
  await using _ = opened;
  await catalog.replacements.replace(original, staged);
  await catalog.replacements.discard(staged);
  assert.equal(catalog.database('a')?.tables.get('m')?.id, staged.id);
  assert.equal((await opened.reopen()).database('a')?.tables.get('m')?.id, staged.id);
});

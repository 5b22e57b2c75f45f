import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { CatalogView } from '../access/catalog-view.js';
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
  const staged = await opened.catalog.replacements.stage(original, () => CONVERTED);
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

it('shows a copy to administrators only, because it contains the rows of another database', async () => {
  const { opened, catalog, staged } = await withStaged();
  await using _ = opened;
  const namesFor = (isAdministrator: boolean): readonly unknown[] => {
    const view = new CatalogView(catalog, { ...FULL_ACCESS, isAdministrator });
    const listed = view.databases().find(({ name }) => name === '_internal');
    return [view.database('_internal'), listed].map((each) => each?.tables.has(staged.name));
  };
  assert.deepEqual(namesFor(true), [true, true]);
  assert.deepEqual(namesFor(false), [false, false]);
  assert.equal(new CatalogView(catalog, FULL_ACCESS).database('a')?.tables.size, 1);
});

it('replaces a copy that is left over, and defines the new one after a rename in progress', async () => {
  const { opened, catalog, original, staged } = await withStaged();
  await using _ = opened;
  const renaming = catalog.renames.renameColumn({ ...at, column: 'v', newName: 'w' });
  const columns: string[] = [];
  const again = await catalog.replacements.stage(original, (present) => {
    columns.push(...present.columns.keys());
    return CONVERTED;
  });
  await renaming;
  assert.deepEqual(columns, ['time', 'w']);
  assert.notEqual(again.id, staged.id);
  assert.deepEqual(catalog.replacements.staged(), [again]);
});

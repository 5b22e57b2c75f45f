import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { SeededRandom } from '@plinth/kernel/testing';
import { type CatalogLimits, DEFAULT_CATALOG_LIMITS } from '@plinth/tsdb-model/database/limits.js';
import { RelationalCatalog } from '../relational-catalog.js';

export interface TestCatalog extends AsyncDisposable {
  readonly catalog: RelationalCatalog;
  /** Reads the catalog as at the next start of the server. */
  reopen(): Promise<RelationalCatalog>;
}

/** A catalog over its own store, removed on dispose. */
export async function openTestCatalog(limits?: Partial<CatalogLimits>): Promise<TestCatalog> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-catalog-'));
  const clock = new SystemClock();
  const store = await openRelationalStore({
    path: join(folder, 'plinth.db'),
    clock,
    fileSystem: new NodeFileSystem(),
  });
  const open = (seed: number) =>
    RelationalCatalog.open({
      store,
      clock,
      random: new SeededRandom(seed),
      limits: { ...DEFAULT_CATALOG_LIMITS, ...limits },
    });
  return {
    catalog: await open(1),
    reopen: () => open(2),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

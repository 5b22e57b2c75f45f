import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Clock,
  type FileSystem,
  NodeFileSystem,
  openRelationalStore,
  type Random,
  type RelationalStore,
} from '@plinth/kernel';
import type { ServerSettings } from './settings.js';

/** What services keep their state in. */
export interface Stores {
  readonly files: FileSystem;
  /** Absolute; exists. */
  readonly dataDir: string;
  readonly relational: RelationalStore;
  /** Fails when the folder or the database cannot be read. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the node's stores. With `object_store = memory` they lie in a temporary folder that `close` removes. */
export async function openStores(needs: {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly random: Random;
}): Promise<Stores> {
  const { settings, clock, random } = needs;
  const files = new NodeFileSystem();
  const isTemporary = settings.object_store === 'memory';
  const dataDir = isTemporary
    ? join(tmpdir(), `plinth-${random.uuidV4()}`)
    : resolve(settings.data_dir);
  await files.makeDirectory(dataDir);
  const path = join(dataDir, 'plinth.db');
  const relational = await openRelationalStore({ path, clock, fileSystem: files });
  return {
    files,
    dataDir,
    relational,
    async probe() {
      await files.list(dataDir);
      await relational
        .reader<Record<never, never>>()
        .selectNoFrom(({ val }) => val(1).as('one'))
        .execute();
    },
    async close() {
      await relational.close();
      if (isTemporary) await files.removeTree(dataDir);
    },
  };
}

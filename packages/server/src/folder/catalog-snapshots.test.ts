import assert from 'node:assert/strict';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { createLogger, NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { CatalogSnapshots } from './catalog-snapshots.js';

// Source: docs/adr/0003-embedded-relational-store.md.
const NOW_MS = Date.UTC(2026, 0, 31, 12);
const NAME = 'plinth-20260131T120000Z.db';

/** Records the calls that determine the state after a crash. */
class NotedFiles extends NodeFileSystem {
  readonly calls: string[] = [];

  override async open(...args: Parameters<NodeFileSystem['open']>) {
    const handle = await super.open(...args);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      await sync();
      this.calls.push(`sync ${this.#nameOf(args[0])}`);
    };
    return handle;
  }

  override async rename(from: string, to: string) {
    await super.rename(from, to);
    this.calls.push(`rename to ${this.#nameOf(to)}`);
  }

  override async remove(path: string) {
    await super.remove(path);
    if (!path.endsWith('.part')) this.calls.push(`remove ${this.#nameOf(path)}`);
  }

  override async syncDirectory(path: string) {
    await super.syncDirectory(path);
    this.calls.push(`sync ${this.#nameOf(path)}`);
  }

  readonly #nameOf = (path: string): string => path.split('/').at(-1) ?? '';
}

describe('Snapshots of plinth.db', () => {
  let dataDir: string;
  let folder: string;
  let files: NotedFiles;
  beforeEach(async () => {
    dataDir = await temporaryFolder();
    folder = join(dataDir, 'snapshots');
    files = new NotedFiles();
    await mkdir(folder);
    const path = join(dataDir, 'plinth.db');
    const clock = new SystemClock();
    await (await openRelationalStore({ path, clock, fileSystem: files })).close();
    files.calls.length = 0;
    await changedAt(Date.UTC(2026, 0, 30));
  });

  const changedAt = async (ms: number): Promise<void> =>
    await utimes(join(dataDir, 'plinth.db'), ms / 1000, ms / 1000);

  async function look(): Promise<string[]> {
    const snapshots = new CatalogSnapshots({
      ...{ files, dataDir, intervalSec: 3600, clock: new ManualClock(NOW_MS) },
      log: createLogger({ level: 'fatal', destination: process.stdout, isText: false }),
    });
    await snapshots.check();
    await snapshots.close();
    return (await readdir(folder)).sort();
  }

  it('remove what a killed process left of a copy, also when none is due', async () => {
    const complete = 'plinth-20260131T000000Z.db';
    await writeFile(join(folder, complete), '');
    await writeFile(join(folder, 'plinth-20260131T060000Z.db.part'), 'half');
    await writeFile(join(folder, 'plinth-20260131T060000Z.db.part-journal'), 'half');
    assert.deepEqual(await look(), [complete]);
  });

  it('are due when a commit came during the copy of the last one', async () => {
    const last = 'plinth-20260131T000000Z.db';
    await writeFile(join(folder, last), '');
    const startedMs = Date.UTC(2026, 0, 31);
    await changedAt(startedMs + 60_000);
    await utimes(join(folder, last), startedMs / 1000 + 120, startedMs / 1000 + 120);
    assert.deepEqual(await look(), [last, NAME]);
  });

  it('are durable before an old one is removed', async () => {
    const old = [1, 2, 3].map((day) => `plinth-2026010${day}T000000Z.db`);
    for (const name of old) await writeFile(join(folder, name), '');
    assert.deepEqual(await look(), [...old.slice(1), NAME]);
    const from = files.calls.indexOf(`sync ${NAME}.part`);
    assert.deepEqual(files.calls.slice(from), [
      `sync ${NAME}.part`,
      `rename to ${NAME}`,
      'sync snapshots',
      `remove ${old[0]}`,
    ]);
  });
});

// Source: docs/BACKUPS.md: at most two backups exist at a time.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { it } from 'node:test';
import { createLogger, NodeFileSystem, SystemClock } from '@plinth/kernel';
import { SeededRandom, temporaryFolder } from '@plinth/kernel/testing';
import type { Stores } from '../folder/stores.js';
import { Backups } from './backups.js';

it('counts a backup once while it starts', async () => {
  const dataDir = await temporaryFolder();
  const files = new NodeFileSystem();
  let second: Promise<unknown> | undefined;
  const rename = files.rename.bind(files);
  // The first backup creates the folder id.
  files.rename = async (from, to) => {
    second = backups.begin(() => {}, 'client').catch((error: Error) => error.message);
    await rename(from, to);
  };
  const local = { snapshot: async (path: string) => await writeFile(path, 'store') };
  const backups = new Backups({
    stores: { dataDir, files, local } as unknown as Stores,
    services: [],
    leftOut: [],
    clock: new SystemClock(),
    random: new SeededRandom(1),
    log: createLogger({ level: 'error', destination: new Writable(), isText: false }),
  });
  await backups.begin(() => {}, 'client');
  assert.notEqual(typeof (await second), 'string', String(await second));
  await assert.rejects(
    backups.begin(() => {}, 'client'),
    /too many backups are in progress/,
  );
  await backups.close();
});

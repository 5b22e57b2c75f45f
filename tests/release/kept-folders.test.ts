// Source: docs/UPGRADE.md, "Support for older data folders": the server upgrades the folder of an earlier version to
// the current formats at startup.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ServerInProcess } from '../harness/index.js';
import { check, type Facts, FLAGS } from './kept-data.js';

/** Packed folders of servers that were killed; upgrade.long.test.ts creates them. */
const FOLDERS = fileURLToPath(new URL('../../release/folders', import.meta.url));
const archives = (await readdir(FOLDERS)).filter((name) => name.endsWith('.tar.gz'));

describe('a data folder of an earlier version', () => {
  it('is kept here', () => assert.ok(archives.length > 0));

  for (const name of archives) {
    it(`${name} is upgraded with all acknowledged data and stays usable`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'plinth-kept-'));
      try {
        await promisify(execFile)('tar', ['-xzf', join(FOLDERS, name), '-C', folder]);
        const facts = JSON.parse(await readFile(join(folder, 'facts.json'), 'utf8')) as Facts;
        const dataDir = join(folder, 'data');
        for (const round of [1, 2]) {
          const server = await ServerInProcess.start({ dataDir, flags: FLAGS });
          try {
            await check(server, facts, round);
          } finally {
            assert.equal(await server.stop(), 0);
          }
        }
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LineFile } from './line-file.js';

it('ignores lines after it is closed, and keeps those before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-lines-'));
  try {
    const path = join(folder, 'access.log');
    const file = new LineFile(path, (error) => assert.fail(String(error)));
    file.write('first\n');
    file.close();
    file.write('at once\n');
    await setTimeout(50); // The descriptor is closed in the meantime.
    file.write('late\n');
    file.close();
    assert.equal(await readFile(path, 'utf8'), 'first\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});

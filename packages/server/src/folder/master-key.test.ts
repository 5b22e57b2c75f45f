import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { ConfigInvalid, NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { readOwnMasterKey } from './master-key.js';

describe('the master key of a node that is given none', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  const read = async (): Promise<string> =>
    Buffer.from(
      await readOwnMasterKey(folder, new NodeFileSystem(), new SystemRandom(new SystemClock())),
    ).toString();

  it('is made once, whole, for the owner alone', async () => {
    const made = await read();
    assert.equal(made.length, 44);
    assert.equal(await read(), made);
    assert.deepEqual(await readdir(folder), ['master.key']);
    assert.equal(await readFile(join(folder, 'master.key'), 'utf8'), `${made}\n`);
    if (process.platform !== 'win32') {
      assert.equal((await stat(join(folder, 'master.key'))).mode & 0o777, 0o600);
    }
  });

  it('is made anew when the process ended while it was written', async () => {
    await writeFile(join(folder, 'master.key.tmp'), 'half of a key that nobody has used', {
      mode: 0o644,
    });
    assert.equal((await read()).length, 44);
    assert.deepEqual(await readdir(folder), ['master.key']);
    if (process.platform !== 'win32') {
      assert.equal((await stat(join(folder, 'master.key'))).mode & 0o777, 0o600);
    }
  });

  it('is refused when its file holds none, and the file is named', async () => {
    for (const text of ['', '\n', 'too short for a key']) {
      await writeFile(join(folder, 'master.key'), text);
      await assert.rejects(read(), (error: unknown) => {
        assert.ok(error instanceof ConfigInvalid);
        const length = text.trim().length;
        const begin = `the key in ${join(folder, 'master.key')} has ${length} characters instead of at least 32`;
        assert.ok(error.problems[0]?.startsWith(begin), error.problems[0]);
        return true;
      });
      assert.equal(await readFile(join(folder, 'master.key'), 'utf8'), text);
    }
  });
});

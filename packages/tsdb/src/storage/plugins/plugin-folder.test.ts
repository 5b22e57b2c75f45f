// Source: processing-engine, "Plugin files".
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { PluginFolder } from './plugin-folder.js';

describe('a plugin folder whose replacement was cut off between its renames', () => {
  let root: string;
  const open = (): PluginFolder =>
    new PluginFolder({
      root,
      files: new NodeFileSystem(),
      random: new SystemRandom(new SystemClock()),
    });
  const put = async (folder: string, text: string): Promise<void> => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, '__init__.py'), text);
  };
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'plinth-plugin-folder-'));
    await put('team/p.old', 'before');
    await put('team/p.tmp', 'after');
  });
  afterEach(() => rm(root, { recursive: true }));

  const assertBack = async (text: string): Promise<void> => {
    assert.deepEqual(await readdir(join(root, 'team')), ['p']);
    assert.equal(await readFile(join(root, 'team', 'p', '__init__.py'), 'utf8'), text);
  };

  it('is found as it was before', async () => {
    assert.deepEqual(await open().find('team/p'), { kind: 'dir', path: join(root, 'team/p') });
    await assertBack('before');
  });

  it('is found by a file in it', async () => {
    assert.equal((await open().find('team/p/__init__.py')).kind, 'file');
    await assertBack('before');
  });

  it('keeps its other files when one is written', async () => {
    await open().write('team/p/more.py', 'more');
    assert.deepEqual((await readdir(join(root, 'team/p'))).sort(), ['__init__.py', 'more.py']);
  });

  it('can be replaced again', async () => {
    await open().replaceFolder('team/p', [{ path: '__init__.py', content: 'again' }]);
    await assertBack('again');
  });

  it("is not made of a user's own copy", async () => {
    await rm(join(root, 'team/p.tmp'), { recursive: true });
    await assert.rejects(open().find('team/p'), { kind: 'plugin_file_missing' });
    assert.deepEqual(await readdir(join(root, 'team')), ['p.old']);
  });
});

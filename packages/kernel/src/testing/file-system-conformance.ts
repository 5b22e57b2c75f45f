import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { FileSystem } from '../fs/file-system.js';

/** Tests the contract of `FileSystem` without faults. `prepare` returns an empty folder each time. */
export function fileSystemConformance(
  implementation: string,
  prepare: () => Promise<{ readonly fileSystem: FileSystem; readonly directory: string }>,
): void {
  const store = async (fileSystem: FileSystem, path: string, text: string) => {
    const handle = await fileSystem.open(path, 'w');
    await handle.write([Buffer.from(text)], 0);
    await handle.sync();
    await handle.close();
  };
  const load = async (fileSystem: FileSystem, path: string) => {
    const handle = await fileSystem.open(path, 'r');
    const bytes = Buffer.alloc(await handle.sizeBytes());
    await handle.read(bytes, 0);
    await handle.close();
    return bytes.toString();
  };

  describe(`${implementation} as FileSystem`, () => {
    it('writes parts sequentially at a position, and reads less only at the end', async () => {
      const { fileSystem, directory } = await prepare();
      const path = join(directory, 'a');
      const handle = await fileSystem.open(path, 'wx');
      const parts = Array.from({ length: 3000 }, (_, index) => Buffer.from(`${index},`));
      await handle.write([...parts, new Uint8Array(0)], 2);
      const expected = `\0\0${parts.join('')}`;
      assert.equal(await handle.sizeBytes(), expected.length);
      const target = Buffer.alloc(expected.length + 10);
      assert.equal(await handle.read(target, 0), expected.length);
      assert.equal(target.subarray(0, expected.length).toString(), expected);
      assert.equal(await handle.read(target, expected.length), 0);
      target.fill(0);
      assert.equal(handle.readNow(target, 5), expected.length - 5);
      assert.equal(target.subarray(0, expected.length - 5).toString(), expected.slice(5));
      await handle.truncate(3);
      await handle.sync();
      await handle.close();
      assert.equal(await load(fileSystem, path), '\0\x000');
    });

    it('reads data written through synced and buffered handles immediately', async () => {
      const { fileSystem, directory } = await prepare();
      const path = join(directory, 'a');
      const buffered = await fileSystem.open(path, 'wx');
      await buffered.write([new Uint8Array(10)], 0);
      const synced = await fileSystem.open(path, 'r+', 'synced');
      await synced.write([Buffer.from('ab'), Buffer.from('c')], 1);
      await buffered.truncate(4);
      await synced.write([Buffer.from('d')], 4);
      await synced.close();
      await buffered.close();
      assert.equal(await load(fileSystem, path), '\0abcd');
    });

    it('supports all open modes', async () => {
      const { fileSystem, directory } = await prepare();
      const path = join(directory, 'a');
      await assert.rejects(fileSystem.open(path, 'r'), { code: 'ENOENT' });
      await assert.rejects(fileSystem.open(path, 'r+'), { code: 'ENOENT' });
      await store(fileSystem, path, 'text');
      await assert.rejects(fileSystem.open(path, 'wx'), { code: 'EEXIST' });
      const reader = await fileSystem.open(path, 'r');
      await assert.rejects(reader.write([Buffer.from('x')], 0), { code: 'EBADF' });
      await reader.close();
      const writer = await fileSystem.open(path, 'r+');
      await writer.write([Buffer.from('n')], 0);
      await writer.close();
      assert.equal(await load(fileSystem, path), 'next');
      await (await fileSystem.open(path, 'w')).close();
      assert.equal(await load(fileSystem, path), '');
    });

    it('rejects calls on a closed handle, even when its descriptor is reused', async () => {
      const { fileSystem, directory } = await prepare();
      await store(fileSystem, join(directory, 'a'), 'before');
      const closed = await fileSystem.open(join(directory, 'a'), 'r+');
      await closed.close();
      await closed.close();
      // The system assigns the lowest free descriptor.
      const others = ['b', 'c', 'd'].map((name) => join(directory, name));
      const opened = await Promise.all(others.map((path) => fileSystem.open(path, 'wx')));
      for (const handle of opened) await handle.write([Buffer.from('theirs')], 0);
      const refused = { name: 'InvariantBroken' };
      await assert.rejects(closed.truncate(1), refused);
      await assert.rejects(closed.write([Buffer.from('x')], 0), refused);
      await assert.rejects(closed.sync(), refused);
      await assert.rejects(closed.read(new Uint8Array(1), 0), refused);
      assert.throws(() => closed.readNow(new Uint8Array(1), 0), refused);
      await assert.rejects(closed.sizeBytes(), refused);
      for (const handle of opened) await handle.close();
      for (const path of others) assert.equal(await load(fileSystem, path), 'theirs');
    });

    it('replaces an existing file with rename, but not with link', async () => {
      const { fileSystem, directory } = await prepare();
      const [a, b, c] = ['a', 'b', 'c'].map((name) => join(directory, name)) as [
        string,
        string,
        string,
      ];
      await store(fileSystem, a, 'A');
      await store(fileSystem, b, 'B');
      await assert.rejects(fileSystem.link(a, b), { code: 'EEXIST' });
      await fileSystem.link(a, c);
      await fileSystem.rename(a, b);
      assert.deepEqual(await fileSystem.list(directory), ['b', 'c']);
      assert.equal(await load(fileSystem, b), 'A');
      await fileSystem.remove(b);
      assert.equal(await load(fileSystem, c), 'A');
      await fileSystem.syncDirectory(directory);
    });

    it('lists, describes and removes files, and ignores missing ones', async () => {
      const { fileSystem, directory } = await prepare();
      await fileSystem.makeDirectory(join(directory, 'x', 'y'));
      await fileSystem.makeDirectory(join(directory, 'x', 'y'));
      await store(fileSystem, join(directory, 'x', 'y', 'f'), 'four');
      await store(fileSystem, join(directory, 'x', 'b'), '');
      assert.deepEqual(await fileSystem.list(join(directory, 'x')), ['b', 'y']);
      assert.deepEqual(await fileSystem.list(join(directory, 'none')), []);
      const stat = await fileSystem.stat(join(directory, 'x', 'y', 'f'));
      assert.deepEqual([stat?.sizeBytes, stat?.isDirectory], [4, false]);
      assert.equal((await fileSystem.stat(join(directory, 'x')))?.isDirectory, true);
      assert.equal(await fileSystem.stat(join(directory, 'none')), undefined);
      assert.equal(await fileSystem.stat(join(directory, 'x', 'y', 'f', 'below')), undefined);
      await fileSystem.removeTree(join(directory, 'x'));
      await fileSystem.removeTree(join(directory, 'x'));
      await fileSystem.remove(join(directory, 'none'));
      assert.deepEqual(await fileSystem.list(directory), []);
    });
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectStore } from '../objects/object-store.js';

/** Tests the contract of `ObjectStore`. `open` returns an empty store each time. */
export function objectStoreConformance(
  implementation: string,
  open: () => Promise<ObjectStore>,
): void {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

  describe(`${implementation} as ObjectStore`, () => {
    it('returns stored objects, completely or in ranges', async () => {
      const store = await open();
      await store.put('a/b.parquet', [Buffer.from('hello '), Buffer.from('world')]);
      assert.equal(text(await store.get('a/b.parquet')), 'hello world');
      assert.equal(text(await store.get('a/b.parquet', { start: 2, end: 7 })), 'llo w');
      assert.equal(text(await store.get('a/b.parquet', { start: 9, end: 99 })), 'ld');
      assert.equal(text(await store.get('a/b.parquet', { start: 99, end: 100 })), '');
    });

    it('never overwrites', async () => {
      const store = await open();
      const texts = ['one', 'two', 'three'];
      const puts = texts.map((value) => store.put('name', [Buffer.from(value)]));
      const outcomes = await Promise.allSettled(puts);
      const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(text(await store.get('name')), texts[won]);
      await assert.rejects(store.put('name', []), { kind: 'object_exists' });
    });

    it('lists by prefix in order, with sizes', async () => {
      const store = await open();
      for (const name of ['b', 'a/2', 'a/1/x', 'ab']) await store.put(name, [Buffer.from(name)]);
      const check = async (prefix: string, names: readonly string[]) => {
        const expected = names.map((name) => ({ name, sizeBytes: name.length }));
        assert.deepEqual(await store.list(prefix), expected, prefix);
      };
      await check('', ['a/1/x', 'a/2', 'ab', 'b']);
      await check('a', ['a/1/x', 'a/2', 'ab']);
      await check('a/', ['a/1/x', 'a/2']);
      await check('a/1/x', ['a/1/x']);
      await check('none/', []);
    });

    it('deletes objects, and ignores missing ones', async () => {
      const store = await open();
      await store.put('a/1', []);
      await store.delete('a/1');
      await store.delete('a/1');
      await store.delete('no/such');
      await assert.rejects(store.get('a/1'), { kind: 'object_not_found' });
      await store.put('a/1', [Buffer.from('again')]);
    });

    it('rejects names that could escape the store', async () => {
      const store = await open();
      for (const name of [
        '',
        '/a',
        'a/',
        'a//b',
        '..',
        '../a',
        'a/../b',
        './a',
        '.a',
        'a\0',
        'a\\b',
      ]) {
        await assert.rejects(store.put(name, []), { kind: 'object_name_invalid' }, name);
        await assert.rejects(store.get(name), { kind: 'object_name_invalid' }, name);
      }
    });
  });
}

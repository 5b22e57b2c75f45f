import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { tarOf } from './tar.js';

it('creates archives that tar unpacks', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'plinth-tar-'));
  try {
    const sizes = [0, 1, 511, 512, 513, 100_000];
    const entries = sizes.map((size) => ({ name: `${size}.txt`, bytes: Buffer.alloc(size, 'a') }));
    writeFileSync(join(root, 'all.tar'), tarOf(entries, Date.UTC(2026, 0, 1)));
    try {
      execFileSync('tar', ['-xf', 'all.tar'], { cwd: root });
    } catch (error) {
      if (Reflect.get(Object(error), 'code') === 'ENOENT') return context.skip('no tar');
      throw error;
    }
    for (const { name, bytes } of entries)
      assert.deepEqual(readFileSync(join(root, name)), bytes, name);
  } finally {
    rmSync(root, { recursive: true });
  }
});

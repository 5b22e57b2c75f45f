import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { choosePhysicalName } from './physical-name.js';

const PACKAGES = join(import.meta.dirname, '../../..');
/** A helper column in generated SQL, with its name. */
const HELPER = /\bAS "?(_\w+)/g;

async function helpersIn(folder: string): Promise<readonly string[]> {
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return sources.flatMap((source) => Array.from(source.matchAll(HELPER), ([, name = '']) => name));
}

it('reserves the names of all helper columns in generated SQL, in any case', async () => {
  const names = (await readdir(PACKAGES)).filter((name) => /^tsdb(?:-|$)/.test(name));
  const folders = names.map((name) => join(PACKAGES, name, 'src'));
  const helpers = new Set((await Promise.all(folders.map(helpersIn))).flat());
  assert.ok(helpers.size > 5, `${helpers.size} helper columns`);
  for (const helper of helpers)
    for (const name of [helper, helper.toUpperCase()])
      assert.equal(choosePhysicalName({ name, id: 7 }, new Set()), `7~${name}`);
});

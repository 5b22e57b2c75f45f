// Source: the Compose specification, "Interpolation": `${X:?text}` refuses the complete file, including services of inactive profiles.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../harness/temporary-folder.js';

const ONE = fileURLToPath(new URL('../../../packaging/compose.yaml', import.meta.url));
const SHARED = fileURLToPath(new URL('../../../packaging/compose.shared.yaml', import.meta.url));
const ASKED = ['PLINTH_MASTER_KEY', 'POSTGRES_PASSWORD'];
const VARIABLE = /\$\{(\w+)(:\?[^}]+)?\}/g;

it('one server requires no variables, several servers refuse to start without theirs', async () => {
  assert.deepEqual([...(await readFile(ONE, 'utf8')).matchAll(VARIABLE)], []);
  const asked = [...(await readFile(SHARED, 'utf8')).matchAll(VARIABLE)];
  assert.deepEqual([...new Set(asked.map(([, name]) => name))].sort(), ASKED);
  assert.deepEqual(
    asked.filter(([, , refusal]) => refusal === undefined),
    [],
  );
});

const compose = (
  file: string,
  env: Readonly<Record<string, string>>,
  { also = [] }: { readonly also?: readonly string[] } = {},
) =>
  spawnSync(
    'docker',
    ['compose', ...[file, ...also].flatMap((name) => ['-f', name]), 'config', '--quiet'],
    {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      encoding: 'utf8',
    },
  );
/** The files that docs/CONTAINERS.md adds to compose.yaml. */
const PAGE = fileURLToPath(new URL('../../../docs/CONTAINERS.md', import.meta.url));
const noCompose =
  spawnSync('docker', ['compose', 'version']).status === 0 ? false : 'docker compose is not there';

it('Compose itself agrees', { skip: noCompose }, () => {
  assert.equal(compose(ONE, {}).status, 0, compose(ONE, {}).stderr);
  assert.match(compose(SHARED, {}).stderr, /PLINTH_MASTER_KEY|POSTGRES_PASSWORD/);
  const all = compose(SHARED, Object.fromEntries(ASKED.map((name) => [name, 'x'.repeat(32)])));
  assert.equal(all.status, 0, all.stderr);
});

it('accepts each file that docs/CONTAINERS.md adds to the first one', {
  skip: noCompose,
}, async () => {
  const blocks = [...(await readFile(PAGE, 'utf8')).matchAll(/^```yaml\n(.*?)^```$/gms)];
  assert.equal(blocks.length, 3);
  const file = join(await temporaryFolder(), 'also.yaml');
  for (const [, text = ''] of blocks) {
    await writeFile(file, text);
    const { status, stderr } = compose(ONE, {}, { also: [file] });
    assert.equal(status, 0, `${text}${stderr}`);
  }
});

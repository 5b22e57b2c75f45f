// Source: the Compose specification, "Interpolation": `${X:?text}` refuses the complete file, including services of inactive profiles.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

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

const compose = (file: string, env: Readonly<Record<string, string>>) =>
  spawnSync('docker', ['compose', '-f', file, 'config', '--quiet'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    encoding: 'utf8',
  });
const noCompose =
  spawnSync('docker', ['compose', 'version']).status === 0 ? false : 'docker compose is not there';

it('Compose itself agrees', { skip: noCompose }, () => {
  assert.equal(compose(ONE, {}).status, 0, compose(ONE, {}).stderr);
  assert.match(compose(SHARED, {}).stderr, /PLINTH_MASTER_KEY|POSTGRES_PASSWORD/);
  const all = compose(SHARED, Object.fromEntries(ASKED.map((name) => [name, 'x'.repeat(32)])));
  assert.equal(all.status, 0, all.stderr);
});

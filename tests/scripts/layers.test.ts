// Source: docs/ARCHITECTURE.md, "Layers".
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/layers.mjs', import.meta.url));

/** Returns the output of the check for a repository with one file; empty without findings. */
function check(file: string, text: string): string {
  const top = mkdtempSync(join(tmpdir(), 'plinth-layers-'));
  try {
    const path = join(top, 'packages', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, top], { encoding: 'utf8' });
    assert.equal(status, stderr === '' ? 0 : 1);
    return stderr.trimEnd();
  } finally {
    rmSync(top, { recursive: true });
  }
}

const refuses = (file: string, target: string, spelling = `import { a } from '${target}';`) =>
  assert.equal(check(file, spelling), `packages/${file}: must not import ${target}`);

it('refuses imports of what lies above or beside', () => {
  refuses('tsdb/src/routes/a.ts', '../storage/b.js');
  refuses('tsdb/src/storage/a.ts', '../domain/b.js');
  refuses('tsdb/src/model/deep/a.ts', '../../domain/b.js');
  refuses('tsdb/src/a.ts', '@plinth/identity');
  refuses('identity/src/a.ts', '@plinth/server');
  refuses('kernel/src/a.ts', '@plinth/tsdb');
  refuses('server/src/a.ts', '@plinth/cli');
  refuses('tsdb-model/src/a.ts', '@plinth/tsdb');
  refuses('tsdb-sql/src/a.ts', '@plinth/tsdb-engine/tsdb-engine.js');
  refuses('tsdb/src/routes/a.ts', '@plinth/tsdb-storage/duckdb/duckdb-host.js');
});

it('refuses imports past the public surface of a package', () => {
  refuses('tsdb/src/a.ts', '@plinth/kernel/dist/fs/node-file-system.js');
  refuses('tsdb/src/a.ts', '../../kernel/src/index.js');
  refuses('cli/src/commands/a.ts', '../../../tsdb/src/index.js');
  refuses('server/src/a.ts', '@plinth/tsdb-model/scan.js');
  refuses('console-core/src/lib/a.ts', '@plinth/kernel');
  refuses('console-core/src/lib/a.ts', '@plinth/console');
  refuses('console/src/components/a.ts', '../pages/a.js');
  assert.equal(
    check('console-core/src/lib/a.ts', "import { a } from '@plinth/kernel/event-stream';"),
    '',
  );
});

it('sees every way to import', () => {
  const target = '../storage/b.js';
  const file = 'tsdb/src/routes/a.ts';
  refuses(file, target, `import type { A } from '${target}';`);
  refuses(file, target, `import {\n  a,\n  b,\n} from '${target}';`);
  refuses(file, target, `export * from '${target}';`);
  refuses(file, target, `import '${target}';`);
  refuses(file, target, `const b = await import('${target}');`);
});

it('knows every package', () => {
  assert.equal(
    check('billing/src/a.ts', ''),
    'packages/billing: missing in PACKAGES of scripts/layers.mjs',
  );
});

it('leaves the rest alone', () => {
  const allows = (file: string, target: string) =>
    assert.equal(check(file, `import { a } from '${target}';`), '');
  allows('tsdb/src/routes/a.ts', '../domain/b.js');
  allows('tsdb/src/routes/a.ts', '../errors.js');
  allows('tsdb/src/domain/a.ts', '@plinth/kernel');
  allows('tsdb/src/testing/a.ts', '@plinth/kernel/testing');
  allows('server/src/a.ts', '@plinth/tsdb');
  allows('tsdb/src/model/a.ts', '@plinth/tsdb-model/scan.js');
  allows('kernel/src/a.ts', 'node:fs');
  allows('tsdb/src/model/a.test.ts', '../domain/b.js');
});

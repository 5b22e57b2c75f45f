// Source: docs/formats/backup.md and the message: the error for a folder of a newer version contains the version that can read it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../harness/cli.js';
import { ServerInProcess } from '../../harness/index.js';

it('a folder of a newer version is refused with both versions, and left unchanged', async () => {
  await using server = await ServerInProcess.start({
    flags: ['--without-auth', '--services', 'tsdb'],
  });
  await server.stop();
  const { dataDir } = server;
  const version = join(dataDir, 'plinth.version');
  const own = (await readFile(version, 'utf8')).trim();
  const script = `const database = new (require('libsql'))(process.argv[1]);
    database.exec("INSERT INTO kernel_migrations VALUES ('tsdb_segments', '9999-of-the-future')");`;
  // In the folder of the installed library.
  const cwd = fileURLToPath(new URL('../../../../packages/kernel', import.meta.url));
  execFileSync(process.execPath, ['-e', script, join(dataDir, 'plinth.db')], { cwd });
  await writeFile(version, '10.2.0\n');
  const refused = await runCli(['serve', '--data-dir', dataDir, '--http-bind', '127.0.0.1:0']);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /the database contains migration 9999-of-the-future, but this version expects no further migration; use the newest version that has opened the database/,
  );
  assert.ok(
    refused.stderr.includes(
      `was written by version 10.2.0, but this is version ${own}: start version 10.2.0`,
    ),
    refused.stderr,
  );
  assert.equal(await readFile(version, 'utf8'), '10.2.0\n');
});

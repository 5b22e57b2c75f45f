// Source: docs/adr/0089: files unknown to plinth.db are quarantined, and a command removes them.
import assert from 'node:assert/strict';
import { copyFile, link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { FLUSH_AT_ONCE, ServerInProcess, untilInFiles, write } from '../../harness/index.js';

it('quarantines files unknown to an older plinth.db with one warning, and removes them by command', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
  try {
    const visit = async (v?: number): Promise<Readonly<Record<string, unknown>> | undefined> => {
      const server = await ServerInProcess.start({
        dataDir,
        flags: ['--without-auth', ...FLUSH_AT_ONCE],
      });
      if (v !== undefined) await write(server, { db: 'd' }, `t,host=h${v} v=${v} ${v}`);
      const warning = server.logged('quarantined files that are not registered in plinth.db');
      await untilInFiles(server);
      assert.equal(await server.stop(), 0);
      return warning;
    };
    assert.equal(await visit(1), undefined);
    const name = 'plinth-20260131T120000Z.db';
    await mkdir(join(dataDir, 'snapshots'), { recursive: true });
    await copyFile(join(dataDir, 'plinth.db'), join(dataDir, 'snapshots', name));
    assert.equal(await visit(2), undefined);
    const restored = await runCli(['snapshot', '--data-dir', dataDir, '--restore', name]);
    assert.equal(restored.code, 0, restored.stderr);
    await rm(join(dataDir, 'plinth.db.damaged')); // The newer one.
    const warning = await visit();
    const folder = join(dataDir, 'objects', 'tsdb-unknown');
    assert.equal(warning?.['folder'], folder);
    assert.equal(await visit(), undefined);

    const files = (await readdir(folder, { recursive: true })).filter((n) => n.includes('.'));
    assert.equal(warning?.['count'], files.length);
    const place = `${folder}: ${files.length} files, ${warning?.['sizeBytes']} bytes`;
    const none = `${join(dataDir, 'objects', 'tsdb-damaged')}: 0 files, 0 bytes`;
    const run = (...flags: string[]) => runCli(['aside', '--data-dir', dataDir, ...flags]);
    assert.deepEqual(await run(), { code: 0, stdout: `${place}\n${none}\n`, stderr: '' });
    assert.equal((await run('--remove')).stdout, `${place} removed\n${none} removed\n`);
    assert.equal((await readdir(join(dataDir, 'objects'))).includes('tsdb-unknown'), false);
    const wrong = await runCli(['aside', '--data-dir', join(dataDir, 'objects')]);
    assert.match(wrong.stderr, /is not a data folder/);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

it('removes a corrupt file of an interrupted repair without changing the live file', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
  try {
    await mkdir(join(dataDir, 'objects'));
    await mkdir(join(dataDir, 'tsdb-log'));
    const live = ['plinth.db', 'plinth.db-wal', 'tsdb-log/000000000001.log'];
    for (const name of live) {
      const path = join(dataDir, name);
      await writeFile(path, 'live bytes');
      await link(path, `${path}.damaged`);
    }
    const removed = await runCli(['aside', '--data-dir', dataDir, '--remove']);
    assert.equal(removed.code, 0, removed.stderr);
    for (const name of live) {
      const path = join(dataDir, name);
      assert.ok(removed.stdout.includes(`${path}.damaged: 10 bytes removed\n`), removed.stdout);
      assert.equal(await readFile(path, 'utf8'), 'live bytes');
      assert.equal(await readFile(`${path}.damaged`, 'utf8'), '', 'the name stays');
    }
    assert.deepEqual(await readdir(join(dataDir, 'tsdb-log')), [
      '000000000001.log',
      '000000000001.log.damaged',
    ]);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

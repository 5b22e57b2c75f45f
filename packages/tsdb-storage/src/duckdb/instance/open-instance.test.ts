// Source: docs/SECURITY-DATA.md, "Queries". Even SQL that bypasses the binder must not reach files,
// settings or extensions.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { openInstance } from './open-instance.js';

it('accesses only files of the data folder, and its settings cannot be changed', async (t) => {
  const top = await temporaryFolder();
  const dataDir = join(top, 'data');
  await mkdir(dataDir);
  for (const folder of [top, dataDir]) await writeFile(join(folder, 'rows.csv'), 'a\n1\n');
  let registeredCount = 0;
  const { instance, connect } = await openInstance({
    ...{ dataDir, spillDir: join(dataDir, 'spill'), memoryLimitBytes: 64 * 1048576 },
    ...{ threads: 1, idleConnections: 1 },
    register: async () => void registeredCount++,
  });
  t.after(async () => {
    instance.closeSync();
  });
  assert.equal(registeredCount, 1);
  const connection = await connect();
  const read = (path: string) => connection.run(`SELECT * FROM read_csv('${path}')`);
  await read(join(dataDir, 'rows.csv'));
  for (const path of [join(top, 'rows.csv'), '/etc/passwd', join(dataDir, '../rows.csv')]) {
    await assert.rejects(read(path), /Permission Error/, path);
  }
  for (const text of [
    `COPY (SELECT 1) TO '${join(top, 'new.csv')}'`,
    `ATTACH '${join(top, 'other.db')}'`,
    ...['INSTALL httpfs', 'LOAD httpfs'],
  ]) {
    await assert.rejects(connection.run(text), /Permission Error/, text);
  }
  for (const setting of [
    'enable_external_access = true',
    'threads = 2',
    "allowed_directories = ['/']",
  ]) {
    await assert.rejects(
      connection.run(`SET GLOBAL ${setting}`),
      /has been locked|Cannot/,
      setting,
    );
  }
});

it('serves other statements after a fatal error in DuckDB', async (t) => {
  const dataDir = await temporaryFolder();
  const { instance, writer, connect } = await openInstance({
    ...{ dataDir, spillDir: join(dataDir, 'spill'), memoryLimitBytes: 64 * 1048576 },
    ...{ threads: 1, idleConnections: 1 },
    // A checkpoint can be made to fail only for a database with a file.
    async register(connection) {
      await connection.run(`ATTACH '${join(dataDir, 'other.db')}' AS other`);
      await connection.run(`SET GLOBAL debug_checkpoint_abort = 'before_header'`);
    },
  });
  t.after(async () => {
    instance.closeSync();
  });
  await writer.run('CREATE TABLE other.rows AS SELECT 7 AS n');
  await assert.rejects(writer.run('CHECKPOINT other'), /invalidated/);
  const result = await (await connect()).runAndReadAll('SELECT n FROM other.rows');
  assert.deepEqual(result.getRows(), [[7]]);
});

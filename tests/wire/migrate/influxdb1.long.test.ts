// Source: the formats of `influxd backup -portable` and `influx_inspect export` of InfluxDB 1.x; an InfluxDB of that line is the model.
// Own process: it stores millions of rows.
import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { it } from 'node:test';
import { CLI } from '../../harness/cli.js';
import { Chance, runProgram, ServerProcess } from '../../harness/index.js';
import { exported, figures, fill, sample } from './farm.js';
import { NO_INFLUXDB, OldInfluxdb } from './old-influxdb.js';

const POINTS = 1_000_000;

it('a million points of an old server, from both formats', { skip: NO_INFLUXDB }, async () => {
  const seed = Date.now() % 1_000_000;
  await using old = await OldInfluxdb.start();
  await fill(old, new Chance(seed), POINTS);
  const backup = await old.backup();
  const file = join(old.folder, 'export.lp');
  await pipeline(Readable.from(exported(old.url)), createWriteStream(file));
  const expected = await figures(old.url);
  const points = await sample(old.url, new Chance(seed), 1000, POINTS);
  for (const path of [backup, file]) {
    await using server = await ServerProcess.start();
    const args = [CLI, 'migrate', 'influxdb1', '--host', server.url, path];
    process.stdout.write(await runProgram(process.execPath, args, { timeoutMs: 600_000 }));
    assert.deepEqual(await figures(server.url), expected, `seed ${seed}`);
    assert.deepEqual(
      await sample(server.url, new Chance(seed), 1000, POINTS),
      points,
      `seed ${seed}`,
    );
  }
});

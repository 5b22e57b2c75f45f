// Source: the formats of `influxd backup -portable` and `influx_inspect export` of InfluxDB 1.x; an InfluxDB of that
// line is the model.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type CliRun, runCli } from '../../harness/cli.js';
import { Chance, ServerInProcess } from '../../harness/index.js';
import { exported, figures, fill, sample } from './farm.js';
import { NO_INFLUXDB, OldInfluxdb, queryOf } from './old-influxdb.js';

const POINTS = 20_000;
const seed = Date.now() % 1_000_000;

describe('from InfluxDB 1.x', { skip: NO_INFLUXDB }, () => {
  let old: OldInfluxdb;
  let backup = '';
  before(async () => {
    old = await OldInfluxdb.start();
    await fill(old, new Chance(seed), POINTS);
    // The files of a backup still contain deleted data, with a list of deletions next to them.
    await old.backup('earlier');
    await old.query(
      "DELETE FROM cpu WHERE host = 'h 3' AND time < 1764000100000000000",
      'telegraf',
    );
    backup = await old.backup();
  });
  after(async () => await old[Symbol.asyncDispose]());

  const moved = async (server: ServerInProcess, ...args: string[]): Promise<CliRun> =>
    await runCli(['migrate', 'influxdb1', '--host', server.url, ...args]);

  it(`a portable backup has the same counts, sums and points here (seed ${seed})`, async () => {
    await using server = await ServerInProcess.start();
    const { code, stdout, stderr } = await moved(server, backup);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^telegraf +cpu +9990 +9990$/m);
    assert.match(stdout, /^telegraf\/weekly +disk +4000 +4000$/m);
    assert.match(stdout, /^plant +pl,ant +6000 +6000$/m);
    assert.deepEqual(await figures(server.url), await figures(old.url));
    const points = (url: string) => sample(url, new Chance(seed), 100, POINTS);
    assert.deepEqual(await points(server.url), await points(old.url));
    const [policies] = await queryOf(server.url, 'SHOW RETENTION POLICIES', 'telegraf');
    assert.deepEqual(
      policies?.series?.[0]?.values.map(([name, duration, , , isDefault]) => [
        name,
        duration,
        isDefault,
      ]),
      [
        ['autogen', '0s', true],
        ['weekly', '0s', false],
      ],
    );
  });

  it('of several backups in a folder the newest counts', async () => {
    await using server = await ServerInProcess.start();
    for (const name of await readdir(backup)) {
      await writeFile(join(old.folder, 'earlier', name), await readFile(join(backup, name)));
    }
    const { code, stdout, stderr } = await moved(server, join(old.folder, 'earlier'), '--dry-run');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^telegraf +cpu +9990$/m);
    assert.deepEqual(
      (await queryOf(server.url, 'SHOW DATABASES', ''))
        .flatMap(({ series }) => series?.[0]?.values ?? [])
        .flat(),
      ['_internal'],
    );
  });

  it('files of influx_inspect export have the same counts, sums and points here', async () => {
    await using server = await ServerInProcess.start();
    const file = join(old.folder, 'export.lp');
    await pipeline(Readable.from(exported(old.url)), createWriteStream(file));
    const { code, stderr } = await moved(server, file);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await figures(server.url), await figures(old.url));
  });

  it('users get new passwords and their grants', async () => {
    await using server = await ServerInProcess.start();
    const { stdout, stderr } = await moved(server, backup, '--users');
    const passwords = [...stdout.matchAll(/^user (\w+) {2}password (\S{20})$/gm)];
    assert.deepEqual(
      passwords.map(([, name]) => name),
      ['ann', 'bob'],
      stderr,
    );
    const [grants] = await queryOf(server.url, 'SHOW GRANTS FOR bob', '');
    assert.deepEqual(grants?.series?.[0]?.values, [['telegraf', 'READ']]);
  });

  it('a continuous query writes what it would write there', async () => {
    await using server = await ServerInProcess.start();
    const { code, stdout, stderr } = await moved(server, backup);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^continuous query cq_cpu of telegraf created$/m);
    const shown = 'SHOW CONTINUOUS QUERIES';
    const queriesOf = async (url: string) =>
      (await queryOf(url, shown, ''))[0]?.series?.find(({ name }) => name === 'telegraf')?.values;
    const expected = await queriesOf(old.url);
    assert.equal(expected?.length, 1);
    assert.deepEqual(await queriesOf(server.url), expected);
    // The query of the backup, with intervals that end during the test.
    const statement = String(expected?.[0]?.[1]);
    const copy = statement.replace('QUERY cq_cpu', 'QUERY copy').replace('time(10m)', 'time(1s)');
    await queryOf(server.url, copy, '');
    // In an interval that ends after both writes, also on a busy machine.
    const startNs = BigInt(Date.now() + 3000) * 1_000_000n;
    const lines = Array.from({ length: 200 }, (_, i) => {
      const tags = `host=new\\ ${i % 2},dc=x`;
      return `cpu,${tags} usage=${i * 1.5},count=${i}i ${startNs + BigInt(i)}`;
    });
    await old.write('telegraf', 'autogen', lines);
    await server.http.send('/api/v3/write_lp?db=telegraf', {
      method: 'POST',
      body: lines.join('\n'),
    });
    const q = `SELECT max, usage, host FROM "weekly"."cpu_10m" WHERE dc = 'x'`;
    let values: readonly (readonly unknown[])[] = [];
    for (let i = 0; i < 200 && values.length < 2; i++) {
      await sleep(100);
      values = (await queryOf(server.url, q, 'telegraf'))[0]?.series?.[0]?.values ?? [];
    }
    const first = Number(values[0]?.[0]);
    const asked = `SELECT max(count), mean(usage) AS usage FROM cpu WHERE dc = 'x' AND time >= ${first} AND time < ${first + 2e9} GROUP BY time(1s), host fill(none)`;
    const [result] = await queryOf(old.url, asked, 'telegraf');
    const wanted = result?.series?.flatMap(({ tags, values: rows }) =>
      rows.map((row) => [...row, tags?.['host']]),
    );
    assert.ok((wanted?.length ?? 0) >= 2);
    assert.deepEqual(values.toSorted(), wanted?.toSorted().slice(0, values.length));
  });

  it('a damaged block is named with its place, and nothing is written', async () => {
    await using server = await ServerInProcess.start();
    const name = (await readdir(backup)).find((file) => file.endsWith('.s1.tar.gz')) ?? '';
    const path = join(backup, name);
    const whole = await readFile(path);
    const tar = gunzipSync(whole);
    // A file in an archive starts 512 bytes after its name; its first block follows 5 bytes of header and a 4-byte checksum.
    const block =
      tar.indexOf('000000001-000000001.tsm') - 'telegraf/autogen/1/'.length + 512 + 5 + 4;
    tar[block + 30] = (tar[block + 30] ?? 0) ^ 1;
    await writeFile(path, gzipSync(tar));
    try {
      const refused = await moved(server, backup);
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /000000001-000000001\.tsm, byte 5: the block of field "\w+" in series "cpu,dc=d\d,host=h\\ \d+" cannot be read: checksum mismatch/,
      );
      assert.match(refused.stderr, /unreadable parts of the input: 1; nothing was written/);
      assert.deepEqual(
        (await queryOf(server.url, 'SHOW MEASUREMENTS', 'telegraf'))[0]?.series,
        undefined,
      );
      const kept = await moved(server, backup, '--keep');
      assert.equal(kept.code, 1, 'what was left out makes the end a failure');
      assert.match(kept.stdout, /^plant +pl,ant +6000 +6000$/m);
    } finally {
      await writeFile(path, whole);
    }
  });

  it('files that are no backup are refused by name', async () => {
    await using server = await ServerInProcess.start();
    const folder = join(old.folder, 'foreign');
    await mkdir(folder);
    assert.match((await moved(server, folder)).stderr, /foreign: no \*\.manifest file found/);
    await writeFile(
      join(folder, 'x.manifest'),
      '{"meta":{"fileName":"../../etc/passwd"},"files":[]}',
    );
    assert.match(
      (await moved(server, folder)).stderr,
      /"\.\.\/\.\.\/etc\/passwd" is not a valid file name in a backup/,
    );
    await writeFile(join(folder, 'x.manifest'), 'not JSON');
    assert.match(
      (await moved(server, folder)).stderr,
      /x\.manifest is not a valid backup manifest/,
    );
    await rm(folder, { recursive: true });
  });

  it('a run that was cut off goes on where it ended', async () => {
    await using server = await ServerInProcess.start();
    let writes = 0;
    let allowed = 2;
    const between = createServer((request, response) => {
      const isWrite = request.url?.startsWith('/api/v3/write_lp') ?? false;
      if (isWrite && ++writes > allowed) {
        request.socket.destroy();
        return;
      }
      const { method, headers, url = '' } = request;
      const onward = forward(`${server.url}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    try {
      const { port } = between.address() as AddressInfo;
      const args = [
        'migrate',
        'influxdb1',
        '--host',
        `http://127.0.0.1:${port}`,
        '--concurrency',
        '1',
        backup,
      ];
      const cut = await runCli(args);
      assert.equal(cut.code, 3, cut.stderr);
      assert.match(cut.stderr, /cannot reach/);
      [writes, allowed] = [0, Number.POSITIVE_INFINITY];
      const { code, stderr } = await runCli(args);
      assert.equal(code, 0, stderr);
      const [, all = ''] = /an earlier run wrote 2 of (\d+) chunks/.exec(stderr) ?? [];
      assert.equal(writes, Number(all) - 2);
      assert.deepEqual(await figures(server.url), await figures(old.url));
      await assert.rejects(stat(`${backup}.plinth-migration`), 'the mark is gone with the end');
    } finally {
      between.closeAllConnections();
      between.close();
    }
  });
});

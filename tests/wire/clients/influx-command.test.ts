// Source: `influx -help` and behavior of the 1.6.7 shell against its own server, and `influx write --help` of influx-cli 2.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { rows, ServerInProcess } from '../../harness/index.js';

/** Distinguishes the two programs, which have the same name. */
const speaks = (words: RegExp, ...args: string[]): boolean => {
  const { stdout, stderr } = spawnSync('influx', args, { encoding: 'utf8' });
  return words.test(`${stdout ?? ''}${stderr ?? ''}`);
};
const skipUnless = (isThere: boolean, what: string) => ({
  skip: isThere ? false : `influx is not installed, or is not ${what}`,
});
const isShell = speaks(/InfluxDB shell version: 1\./, '-version');
const isVersion2 = !isShell && speaks(/Influx CLI/, 'version');

let server: ServerInProcess;
let folder = '';
let token = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-influx-'));
  server = await ServerInProcess.start({ flags: [] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(created.text) as { token: string }).token;
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const found = async (db: string, q: string) =>
  await rows(server, db, q, { authorization: `Bearer ${token}` });
/** Runs the command without blocking this process, which reads the server's log. */
async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, INFLUX_TOKEN: token, INFLUX_ORG: 'any', INFLUX_HOST: server.url };
  const child = spawn('influx', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  return { code, output };
}

describe('the shell of InfluxDB 1.x', skipUnless(isShell, 'of version 1'), () => {
  const shell = async (...args: string[]) => {
    const { hostname, port } = new URL(server.url);
    const access = ['-username', 'any', '-password', token];
    return await run('-host', hostname, '-port', port, ...access, ...args);
  };
  const ask = async (database: string, execute: string, ...args: string[]) => {
    const { code, output } = await shell('-database', database, '-execute', execute, ...args);
    assert.equal(code, 0, output);
    return output;
  };

  it('creates, shows and drops a continuous query', async () => {
    await ask('', 'CREATE DATABASE cq');
    await ask(
      'cq',
      'CREATE CONTINUOUS QUERY "hourly" ON "cq" RESAMPLE FOR 2h BEGIN SELECT mean("v") INTO "means" FROM "m" GROUP BY time(90m), "host" END',
    );
    const stored =
      'CREATE CONTINUOUS QUERY hourly ON cq RESAMPLE FOR 2h BEGIN SELECT mean(v) INTO cq.autogen.means FROM cq.autogen.m GROUP BY time(90m), host END';
    const shown = await ask('cq', 'SHOW CONTINUOUS QUERIES');
    assert.ok(shown.endsWith(`name: cq\nname   query\n----   -----\nhourly ${stored}\n`), shown);
    await ask('cq', 'DROP CONTINUOUS QUERY hourly ON cq');
    assert.doesNotMatch(await ask('cq', 'SHOW CONTINUOUS QUERIES'), /hourly/);
  });

  it('V-05 shows answers in every form', async () => {
    await ask('', 'CREATE DATABASE home');
    await ask('home', 'INSERT room,name=Hall\\ way temp=21.5,n=3i 1500000000000000000');
    const q = 'SELECT n, "name", temp FROM room';
    assert.equal(
      await ask('home', q),
      'name: room\ntime                n name     temp\n----                - ----     ----\n1500000000000000000 3 Hall way 21.5\n',
    );
    assert.equal(
      await ask('home', q, '-format', 'csv', '-precision', 'rfc3339'),
      'name,time,n,name,temp\nroom,2017-07-14T02:40:00Z,3,Hall way,21.5\n',
    );
    assert.deepEqual(JSON.parse(await ask('home', q, '-format', 'json', '-precision', 's')), {
      results: [
        {
          series: [
            {
              name: 'room',
              columns: ['time', 'n', 'name', 'temp'],
              values: [[1_500_000_000, 3, 'Hall way', 21.5]],
            },
          ],
        },
      ],
    });
  });

  it('W-07 inserts into a retention policy', async () => {
    await ask('home', 'CREATE RETENTION POLICY two ON home DURATION 2h REPLICATION 1');
    await ask('home', 'INSERT INTO two room,name=K temp=1');
    assert.match(await ask('home', 'SELECT count(temp) FROM two.room'), /^0 +1$/m);
    assert.match(await ask('home', 'SELECT count(temp) FROM room'), /^0 +1$/m);
  });

  it('W-07 imports a dump, plain and compressed, and names what it cannot', async () => {
    const many = Array.from({ length: 7000 }, (_, i) => `many,h=a${i % 10} v=${i}i ${1e9 + i}`);
    const dump = [
      ...['# DDL', 'CREATE DATABASE imported WITH NAME autogen', '# DML'],
      ...['# CONTEXT-DATABASE:imported', '# CONTEXT-RETENTION-POLICY:autogen'],
      ...['m,h=a v=1 1', 'm,h=b s="with \\"q\\" and, comma" 2', 'm,h=bad', ...many, ''],
    ].join('\n');
    const plain = join(folder, 'dump.txt');
    const packed = join(folder, 'dump.txt.gz');
    await Promise.all([writeFile(plain, dump), writeFile(packed, gzipSync(dump))]);
    const imported = await shell('-import', '-path', plain, '-precision', 's');
    assert.match(imported.output, /"original_line":"m,h=bad"/);
    await shell('-import', '-path', packed, '-compressed', '-precision', 's');
    assert.deepEqual(await found('imported', 'SELECT count(*) AS c, sum(v) AS v FROM many'), [
      { c: 7000, v: (7000 * 6999) / 2 },
    ]);
    assert.deepEqual(await found('imported', 'SELECT h, s, v FROM m ORDER BY time'), [
      { h: 'a', v: 1 },
      { h: 'b', s: 'with "q" and, comma' },
    ]);
  });

  it('A-03 says that a token is unknown', async () => {
    const { hostname, port } = new URL(server.url);
    const access = ['-username', 'any', '-password', 'wrong'];
    const { code, output } = await run(
      ...['-host', hostname, '-port', port, ...access, '-execute', 'SHOW DATABASES'],
    );
    assert.notEqual(code, 0);
    assert.match(output, /the request was not authenticated/);
  });
});

describe('the command of InfluxDB 2.x', skipUnless(isVersion2, 'of version 2'), () => {
  it('P-01 pings without a token, which it never sends, where health is open', async () => {
    assert.match((await run('ping')).output, /401 Unauthorized/);
    await using open = await ServerInProcess.start({ flags: ['--disable-authz', 'health'] });
    assert.deepEqual(await run('ping', '--host', open.url), { code: 0, output: 'OK\n' });
  });

  it('W-08 writes a compressed file', async () => {
    const file = join(folder, 'many.lp.gz');
    const lines = Array.from({ length: 30_000 }, (_, i) => `many,h=a${i % 10} v=${i}i ${i}`);
    await writeFile(file, gzipSync(lines.join('\n')));
    const flags = ['-b', 'written', '-p', 's', '-f', file, '--compression', 'gzip'];
    assert.deepEqual(await run('write', ...flags), { code: 0, output: '' });
    assert.deepEqual(await found('written', 'SELECT count(*) AS c, sum(v) AS v FROM many'), [
      { c: 30_000, v: (30_000 * 29_999) / 2 },
    ]);
  });

  it('W-08 names the line that is refused', async () => {
    const { code, output } = await run('write', '-b', 'refused', 'm,t=a v=1i 1\nm,t=b v="x" 2');
    assert.equal(code, 1);
    assert.match(output, /400 Bad Request: .*line 2: invalid column type for column 'v'/);
    assert.deepEqual(await found('refused', 'SELECT t, v FROM m'), [{ t: 'a', v: 1 }]);
  });

  it('W-08 deletes what it wrote', async () => {
    await run('write', '-b', 'deleted', 'm,t=a v=1i 1\nm,t=b v=2i 1');
    const range = ['--start', '1970-01-01T00:00:00Z', '--stop', '1970-01-01T00:00:01Z'];
    const deleted = await run('delete', '-b', 'deleted', ...range, '-p', 't="a"');
    assert.deepEqual(deleted, { code: 0, output: '' });
    assert.deepEqual(await found('deleted', 'SELECT t FROM m'), [{ t: 'b' }]);
  });

  it('A-03 says that a token is unknown', async () => {
    const { code, output } = await run('write', '-t', 'wrong', '-b', 'any', 'm v=1');
    assert.equal(code, 1);
    assert.match(output, /401 Unauthorized: unauthorized access/);
  });
});

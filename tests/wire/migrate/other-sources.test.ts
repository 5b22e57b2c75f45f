// Source: "Annotated CSV" of InfluxDB 2.x, `influxd inspect export-lp`, `/api/v1/export` of VictoriaMetrics, `promtool tsdb dump`, the
// plaintext protocol of Graphite; behavior of the command according to its help.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runCli } from '../../harness/cli.js';
import { runProgram, ServerInProcess, temporaryFolder } from '../../harness/index.js';

let server: ServerInProcess;
let count = 0;
const folder = await temporaryFolder();
before(async () => {
  server = await ServerInProcess.start();
});
after(() => server.close());

/** Migrates a file into a new database. */
async function migrate(source: string, content: string | Buffer, ...args: string[]) {
  const database = `m${++count}`;
  const path = join(folder, `${database}.txt`);
  await writeFile(path, content);
  const run = await runCli([
    'migrate',
    source,
    '--host',
    server.url,
    '-d',
    database,
    ...args,
    path,
  ]);
  const rows = async (q: string): Promise<unknown> => {
    const json = JSON.stringify({ db: database, q, format: 'json_rows' });
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await server.http.send('/api/v3/query_sql', {
      method: 'POST',
      body: json,
      headers,
    });
    return status === 200 ? JSON.parse(text) : status;
  };
  return { ...run, path, rows };
}

const CSV = `#group,false,false,true,true,false,false,true,true,true
#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339Nano,double,string,string,string
#default,_result,,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement,host
,,0,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,2026-01-05T00:00:00.000000001Z,1.5,usage,cpu,a
,,0,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,2026-01-05T00:00:10Z,-Inf,usage,cpu,a
,,1,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,2026-01-05T00:00:00.000000001Z,2.5,usage,cpu,"b, ""c"""

#group,false,false,true,true,false,false,true,true
#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,long,string,string
#default,_result,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement
,,2,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,2026-01-05T00:00:00Z,9007199254740993,count,big
`;

it('annotated CSV of 2.x becomes tables with tags and fields', async () => {
  const { code, stderr, stdout, rows } = await migrate('influxdb2', CSV);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^total: 4 points in 2 tables$/m);
  assert.deepEqual(
    await rows(
      'SELECT host, usage, CAST(time AS BIGINT) % 1000 AS ns FROM cpu ORDER BY time, host',
    ),
    [
      { host: 'a', usage: 1.5, ns: 1 },
      { host: 'b, "c"', usage: 2.5, ns: 1 },
      { host: 'a', usage: null, ns: 0 },
    ],
  );
  assert.deepEqual(await rows('SELECT count(*) AS n FROM cpu WHERE usage < -1e308'), [{ n: 1 }]);
  assert.deepEqual(await rows('SELECT CAST(count AS VARCHAR) AS count FROM big'), [
    { count: '9007199254740993' },
  ]);
});

it('pivoted CSV of 2.x has a field for each column outside of the key', async () => {
  const pivoted = `#group,false,false,false,true,true,false,false
#datatype,string,long,dateTime:RFC3339,string,string,double,boolean
#default,_result,,,,,,
,result,table,_time,_measurement,host,load,up
,,0,2026-01-05T00:00:00Z,sys,a,0.5,true
,,0,2026-01-05T00:01:00Z,sys,a,,false
`;
  const { code, stderr, rows } = await migrate('influxdb2', pivoted);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await rows('SELECT host, load, up FROM sys ORDER BY time'), [
    { host: 'a', load: 0.5, up: true },
    { host: 'a', up: false },
  ]);
});

it('a line that cannot be read is named, and nothing is written without --keep', async () => {
  const text = 'm v=1 1000\nm v= 2000\nm v=3 3000\n';
  const refused = await migrate('influxdb2', text);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /m\d+\.txt:2: .*\n.*unreadable parts of the input: 1; nothing was written/,
  );
  assert.equal(await refused.rows('SELECT v FROM m'), 404);
  const kept = await migrate('influxdb2', text, '--keep');
  assert.equal(kept.code, 1);
  assert.deepEqual(await kept.rows('SELECT v FROM m ORDER BY time'), [{ v: 1 }, { v: 3 }]);
  const asked = await migrate('influxdb2', 'm v=1 1000\n', '--dry-run');
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(await asked.rows('SELECT v FROM m'), 404);
});

it('a compressed file that was cut off changes nothing', async () => {
  const lines = Array.from(
    { length: 5000 },
    (_, i) => `m,host=h${i % 7} v=${i} ${1_000_000 + i}\n`,
  );
  const cut = gzipSync(lines.join('')).subarray(0, -20);
  const { code, stderr, rows } = await migrate('influxdb2', cut);
  assert.equal(code, 1);
  assert.match(stderr, /m\d+\.txt: unexpected end of file; the file is truncated or corrupt/);
  assert.equal(await rows('SELECT v FROM m'), 404);
  // Twenty bytes are missing at the end: the checksum, and at most a few hundred lines.
  const kept = await migrate('influxdb2', cut, '--keep');
  assert.equal(kept.code, 1, 'what was left out makes the end a failure');
  assert.match(
    kept.stderr,
    /^\S+m\d+\.txt: unexpected end of file; the file is truncated or corrupt$/m,
  );
  const [found] = (await kept.rows('SELECT count(*) AS n, sum(v) AS sum FROM m')) as {
    n: number;
    sum: number;
  }[];
  const n = found?.n ?? 0;
  assert.ok(n > 4000 && n < 5000, `${n} rows`);
  assert.equal(found?.sum, (n * (n - 1)) / 2, 'the first lines, each of them whole');
});

it('a compressed file that was cut off is told by every command that reads one', async () => {
  const lines = Array.from(
    { length: 5000 },
    (_, i) => `w,host=h${i % 7} v=${i} ${1_000_000 + i}\n`,
  );
  const cells = Array.from({ length: 5000 }, (_, i) => `${1_000_000 + i},${i}\n`);
  for (const [name, text, ...command] of [
    ['cut.lp.gz', lines.join(''), 'write'],
    ['cut.csv.gz', `time,v\n${cells.join('')}`, 'import', '--table', 'w'],
    [
      'cut.jsonl.gz',
      '{"metric":{"__name__":"up"},"values":[1],"timestamps":[1]}\n'.repeat(99),
      'migrate',
      'prometheus',
    ],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, gzipSync(text).subarray(0, -20));
    const { code, stderr } = await runCli([...command, '--host', server.url, '-d', 'cut', path]);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      new RegExp(`${name}: unexpected end of file; the file is truncated or corrupt`),
    );
    assert.doesNotMatch(stderr, /\n +at /, 'no stack');
  }
});

it('a key that is a tag and a field, and fields of several kinds, get names of their own', async () => {
  const text = 'm,host=a host="f",v=1i,w=1 1000\nm v=2.5,w=true 2000\nm w=2 3000\n';
  const { code, stderr, rows } = await migrate('influxdb2', text);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /"host" is both a tag and a field; the tag is renamed to "host_tag"/);
  assert.match(stderr, /"v" contains integers and floats; all values become floats/);
  assert.match(
    stderr,
    /"w" contains values of several types; its boolean values are written to "w_boolean"/,
  );
  assert.deepEqual(await rows('SELECT host, host_tag, v, w, w_boolean FROM m ORDER BY time'), [
    { host: 'f', host_tag: 'a', v: 1, w: 1 },
    { v: 2.5, w_boolean: true },
    { w: 2 },
  ]);
});

it('exports of VictoriaMetrics are a table for each metric', async () => {
  const text = [
    '{"metric":{"__name__":"http_requests_total","job":"a b","le":"+Inf"},"values":[1,2.5,null],"timestamps":[1767571200000,1767571210000,1767571220000]}',
    '{"metric":{"__name__":"up"},"values":[1],"timestamps":[1767571200000]}',
  ];
  const { code, stderr, stdout, rows } = await migrate('prometheus', gzipSync(text.join('\n')));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^total: 3 points in 2 tables$/m);
  assert.deepEqual(
    await rows(
      'SELECT job, le, value, CAST(time AS BIGINT) AS ns FROM http_requests_total ORDER BY time',
    ),
    [
      { job: 'a b', le: '+Inf', value: 1, ns: 1_767_571_200_000_000_000 },
      { job: 'a b', le: '+Inf', value: 2.5, ns: 1_767_571_210_000_000_000 },
    ],
  );
  const bad = await migrate(
    'prometheus',
    '{"metric":{"__name__":"up"},"values":[1],"timestamps":[]}\n',
  );
  assert.match(
    bad.stderr,
    /:1: the metric is missing, or the numbers of values and timestamps differ/,
  );
});

it('labels that a table cannot have as they are get other names, or other texts, and it is told', async () => {
  const text = [
    '{"metric":{"__name__":"up","time":"noon","value":"x","note":"two\\nlines\\there"},"values":[1,"Inf","-Inf"],"timestamps":[1000,2000,3000]}',
    '{"metric":{"__name__":"down","time":"night"},"values":[2],"timestamps":[1000]}',
  ].join('\n');
  const looked = await migrate('prometheus', text, '--dry-run');
  assert.equal(looked.code, 0, looked.stderr);
  const told = [
    /^table up of m\d+: "time" is the name of the time column; the tag is renamed to "time_tag"$/m,
    /^table down of m\d+: "time" is the name of the time column; the tag is renamed to "time_tag"$/m,
    /^table up of m\d+: "value" is both a tag and a field; the tag is renamed to "value_tag"$/m,
    /^label "note": line breaks and tabs in its values are replaced by spaces$/m,
  ];
  for (const sentence of told) assert.match(looked.stderr, sentence);
  const { code, stderr, rows } = await migrate('prometheus', text);
  assert.equal(code, 0, stderr);
  for (const sentence of told) assert.match(stderr, sentence);
  assert.deepEqual(
    await rows(
      'SELECT time_tag, value_tag, note, value > 1e308 AS above, value < -1e308 AS below FROM up ORDER BY time',
    ),
    [
      { time_tag: 'noon', value_tag: 'x', note: 'two lines here', above: false, below: false },
      { time_tag: 'noon', value_tag: 'x', note: 'two lines here', above: true, below: false },
      { time_tag: 'noon', value_tag: 'x', note: 'two lines here', above: false, below: true },
    ],
  );
  assert.deepEqual(await rows('SELECT time_tag, value FROM down'), [
    { time_tag: 'night', value: 2 },
  ]);
  const dump = '{__name__="up", note="a\\nb"} 1 1000\n';
  const dumped = await migrate('prometheus', dump);
  assert.equal(dumped.code, 0, dumped.stderr);
  assert.deepEqual(await dumped.rows('SELECT note, value FROM up'), [{ note: 'a b', value: 1 }]);
  const carbon = await migrate('graphite', 'disk;time=x 7 1767571200\n');
  assert.equal(carbon.code, 0, carbon.stderr);
  assert.deepEqual(await carbon.rows('SELECT time_tag, value FROM disk'), [
    { time_tag: 'x', value: 7 },
  ]);
  // A field can have that name in InfluxDB 1.x, but no query can read it there.
  const field = await migrate('influxdb2', 'm time="x",v=1 1000\n');
  assert.equal(field.code, 0, field.stderr);
  assert.match(field.stderr, /the field is renamed to "time_field"/);
  assert.deepEqual(await field.rows('SELECT time_field, v FROM m'), [{ time_field: 'x', v: 1 }]);
});

const noPromtool =
  spawnSync('promtool', ['--version']).status === 0 ? false : 'prometheus is not installed';

it('blocks of a real Prometheus, as promtool prints them', { skip: noPromtool }, async () => {
  const samples = Array.from(
    { length: 400 },
    (_, i) => `jobs{queue="q \\"${i % 2}\\"",host="h"} ${i * 0.5} ${1_767_571_200 + i * 15}`,
  );
  const open = join(folder, 'metrics.om');
  await writeFile(open, `# TYPE jobs gauge\n${samples.join('\n')}\n# EOF\n`);
  const blocks = join(folder, 'blocks');
  await runProgram('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', open, blocks]);
  // The dump command requires a write-ahead log, even an empty one.
  await mkdir(join(blocks, 'wal'));
  const dump = await runProgram('promtool', ['tsdb', 'dump', blocks]);
  const { code, stderr, rows } = await migrate('prometheus', dump);
  assert.equal(code, 0, stderr);
  // 0, 0.5, ... 199.5
  assert.deepEqual(
    await rows(
      'SELECT count(*) AS n, sum(value) AS sum, min(host) AS host, count(DISTINCT queue) AS queues FROM jobs',
    ),
    [{ n: 400, sum: (399 * 400) / 4, host: 'h', queues: 2 }],
  );
});

it('lines of Graphite are tables by their paths, with tags', async () => {
  const text =
    'servers.a.load 1.5 1767571200\nservers.a.load nan 1767571210\ndisk;host=a;dev=sd\\=a 7 1767571200.25\nbad\n';
  const refused = await migrate('graphite', text);
  assert.match(refused.stderr, /:4: invalid line; use `path value seconds`/);
  const { code, stderr, rows } = await migrate('graphite', text.replace('bad\n', ''));
  assert.equal(code, 0, stderr);
  assert.deepEqual(await rows('SELECT value FROM "servers.a.load"'), [{ value: 1.5 }]);
  assert.deepEqual(await rows('SELECT host, dev, value, CAST(time AS BIGINT) AS ns FROM disk'), [
    { host: 'a', dev: 'sd\\=a', value: 7, ns: 1_767_571_200_250_000_000 },
  ]);
});

it('a mark of other files does not count', async () => {
  const path = join(folder, 'marked.lp');
  await writeFile(path, 'm v=1 1000\n');
  await writeFile(`${path}.plinth-migration`, '{"version":1,"source":"of others","written":1}');
  const { code, stderr } = await runCli([
    'migrate',
    'influxdb2',
    '--host',
    server.url,
    '-d',
    'marked',
    path,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /wrote 1 line /);
  await assert.rejects(stat(`${path}.plinth-migration`));
});

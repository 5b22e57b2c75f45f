// Source: `plinth write --help`; the format of `influx_inspect export` and `influx -import` of InfluxDB 1.x.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { SharedServer, temporaryFolder } from '../../harness/index.js';

let server: SharedServer;
const folder = await temporaryFolder();
before(async () => {
  server = await SharedServer.get();
});
after(() => server.close());

async function writeDump(text: string): ReturnType<typeof runCli> {
  const path = join(folder, 'dump.lp');
  await writeFile(path, text);
  return await runCli(['write', '--host', server.url, path]);
}

async function rows(db: string, q: string): Promise<unknown> {
  const { text } = await server.http.send(`/query?${new URLSearchParams({ db, q, epoch: 'ns' })}`);
  const [result] = (
    JSON.parse(text) as { results: { error?: string; series?: { values: unknown[][] }[] }[] }
  ).results;
  return result?.error ?? result?.series?.map(({ values }) => values)[0];
}

it('statements, which may contain passwords, are not in URLs', async () => {
  const targets: string[] = [];
  const bodies: string[] = [];
  const proxy = createServer(async (request, response) => {
    targets.push(request.url ?? '');
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.setHeader('content-type', 'application/json').end('{"results":[{}]}');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const path = join(folder, 'ddl.lp');
  await writeFile(path, '# DDL\nCREATE DATABASE x\n# DML\n');
  const { port } = proxy.address() as { readonly port: number };
  await runCli(['write', '--host', `http://127.0.0.1:${port}`, path]);
  proxy.close();
  proxy.closeAllConnections();
  assert.deepEqual([targets, bodies], [['/query'], ['q=CREATE+DATABASE+x']]);
});

it('a dump of 1.x creates its databases and writes to them', async () => {
  const dump = [
    '# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z',
    '# DDL',
    'CREATE DATABASE "old" WITH NAME autogen',
    'CREATE DATABASE "second"',
    '# DML',
    '# CONTEXT-DATABASE:old',
    '# CONTEXT-RETENTION-POLICY:autogen',
    '# writing tsm data',
    'm,host=a v=1 1000000000',
    'm,host=a v=2,s="# CONTEXT-DATABASE:trap\n# CONTEXT-DATABASE:trap" 2000000000',
    '# CONTEXT-RETENTION-POLICY:weekly',
    'm,host=a v=3 3000000000',
    '# CONTEXT-DATABASE: second',
    '# CONTEXT-RETENTION-POLICY: autogen',
    '',
    'n v=4i 4000000000',
  ];
  const { code, stderr } = await writeDump(`${dump.join('\n')}\n`);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /wrote 4 lines/);
  assert.deepEqual(await rows('old', 'SELECT v FROM m'), [
    [1_000_000_000, 1],
    [2_000_000_000, 2],
  ]);
  assert.deepEqual(await rows('old', 'SELECT v FROM weekly.m'), [[3_000_000_000, 3]]);
  assert.deepEqual(await rows('second', 'SELECT v FROM n'), [[4_000_000_000, 4]]);
  assert.match(String(await rows('trap', 'SELECT v FROM m')), /database not found/);
});

it('a dump with an invalid line or statement reports it and fails', async () => {
  const bad = await writeDump('# DML\n# CONTEXT-DATABASE: part\nm v=1 1\nm v=x 2\nm v=3 3\n');
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /dump\.lp:4: /);
  assert.deepEqual(await rows('part', 'SELECT v FROM m'), [
    [1, 1],
    [3, 3],
  ]);
  const statement = await writeDump(
    '# DDL\nDROP NOTHING\n# DML\n# CONTEXT-DATABASE: never\nm v=1 1\n',
  );
  assert.notEqual(statement.code, 0);
  assert.match(statement.stderr, /DROP NOTHING/);
  assert.match(String(await rows('never', 'SELECT v FROM m')), /database not found/);
});

// Source: docs/MIGRATE.md: an interrupted run continues at its last position, as long as the server still contains its points.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { ServerInProcess, temporaryFolder } from '../../harness/index.js';

let server: ServerInProcess;
const folder = await temporaryFolder();
before(async () => {
  server = await ServerInProcess.start();
});
after(() => server.close());

/** Three files, each of them one chunk; a tag is renamed because a field has the same name. */
const FILES = [
  "t,host=a\\ b,q=it's v=1 1000\n",
  't,host=c v=2 1000\nu w=1i 1000\n',
  't v=3,host="f" 3000\n',
];

async function count(table: string): Promise<number> {
  const body = JSON.stringify({
    db: 'home',
    q: `SELECT count(*) AS n FROM ${table}`,
    format: 'json_rows',
  });
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await server.http.send('/api/v3/query_sql', {
    method: 'POST',
    body,
    headers,
  });
  return status === 200 ? ((JSON.parse(text) as { n: number }[])[0]?.n ?? 0) : 0;
}

async function sources(): Promise<string[]> {
  const paths = FILES.map((_, i) => join(folder, `part${i}.lp`));
  for (const [i, path] of paths.entries()) await writeFile(path, FILES[i] ?? '');
  return paths;
}

/** Creates the state of a run that was interrupted after `written` chunks. */
async function leaveMark(paths: readonly string[], written: number): Promise<void> {
  const identity: string[] = [];
  for (const path of paths) {
    const { size, mtimeMs } = await stat(path);
    identity.push(`${path} ${size} ${mtimeMs}`);
  }
  const key = JSON.stringify([1, identity.join('\n'), server.url, 'home']);
  const source = createHash('sha256').update(key).digest('hex');
  await writeFile(`${paths[0]}.plinth-migration`, JSON.stringify({ version: 1, source, written }));
}

const run = async (paths: readonly string[]) =>
  await runCli(['migrate', 'influxdb2', '--host', server.url, '-d', 'home', ...paths]);

it('a run begins anew when the database lacks what an earlier one wrote', async () => {
  const paths = await sources();
  const whole = await run(paths);
  assert.equal(whole.code, 0, whole.stderr);
  await leaveMark(paths, 2);
  const resumed = await run(paths);
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.match(resumed.stderr, /an earlier run wrote 2 of 3 chunks/);
  assert.match(resumed.stderr, /wrote 1 line /);

  await leaveMark(paths, 2);
  const deleted = await runCli([
    'database',
    'delete',
    'home',
    '--hard-delete',
    'now',
    '--host',
    server.url,
  ]);
  assert.equal(deleted.code, 0, deleted.stderr);
  const anew = await run(paths);
  assert.equal(anew.code, 0, anew.stderr);
  assert.match(
    anew.stderr,
    /table t of home no longer contains the points of the earlier run; starting again/,
  );
  assert.match(anew.stderr, /wrote 4 lines/);
  assert.deepEqual([await count('t'), await count('u')], [3, 1]);

  // A server restored to an earlier state has the table, but not its last points.
  await leaveMark(paths, 2);
  const forget = new URLSearchParams({ db: 'home', q: "DELETE FROM t WHERE host_tag = 'c'" });
  const gone = await server.http.send(`/query?${forget}`, { method: 'POST' });
  assert.equal(gone.status, 200, gone.text);
  assert.equal(await count('t'), 2);
  const back = await run(paths);
  assert.match(back.stderr, /table t of home no longer contains/);
  assert.equal(await count('t'), 3);
});

// Source: processing-engine, "Entry points"; the plugins of `examples/plugins` and the commands for plugins.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../harness/cli.js';
import { rows as rowsOf, ServerInProcess, temporaryFolder, write } from '../../harness/index.js';

const EXAMPLES = fileURLToPath(new URL('../../../../examples/plugins', import.meta.url));
const isPythonHere = spawnSync('python3', ['--version']).status === 0;

describe('Plugins by command', { skip: isPythonHere ? false : 'python3 is not installed' }, () => {
  let folder: string;
  let work: string;
  let server: ServerInProcess;
  before(async () => {
    folder = await temporaryFolder();
    work = await temporaryFolder();
    await cp(EXAMPLES, folder, { recursive: true });
    server = await ServerInProcess.start({ flags: ['--without-auth', '--plugin-dir', folder] });
  });
  after(async () => {
    await server.close();
    for (const path of [folder, work]) await rm(path, { recursive: true });
  });

  const plinth = (...args: string[]) => runCli([...args, '--host', server.url]);
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await plinth(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const rows = async (q: string) => (await rowsOf(server, 'home', q)) as Record<string, unknown>[];

  async function until(q: string, isIt: (found: Record<string, unknown>[]) => boolean) {
    for (let wait = 0; wait < 2400; wait++) {
      const response = await server.http.send(
        `/api/v3/query_sql?${new URLSearchParams({ db: 'home', q, format: 'json_rows' })}`,
      );
      const found =
        response.status === 200 ? (JSON.parse(response.text) as Record<string, unknown>[]) : [];
      if (isIt(found)) return found;
      await sleep(25);
    }
    assert.fail(`not in time: ${q}`);
  }

  it('downsamples what is there on a schedule', async () => {
    const windowSec = 10;
    const endSec = Math.floor(Date.now() / 1000 / windowSec) * windowSec;
    // Two windows that ended before the first run; the plugin processes the last one before its own start.
    const lines = [-30, -25, -20, -15, -10, -5, 0, 5, 10, 15].map(
      (offset, i) => `temp,room=a celsius=${i},note="x" ${(endSec + offset) * 1000}000000`,
    );
    await write(server, { db: 'home' }, lines.join('\n'));
    await done(
      ...[
        'trigger',
        'create',
        'means',
        '-d',
        'home',
        '--plugin',
        'downsample.py',
        '--spec',
        'every:1s',
      ],
      ...['--args', `table=temp,window_seconds=${windowSec}`],
    );
    const [first] = await until(
      'SELECT time, room, celsius FROM temp_mean ORDER BY time LIMIT 1',
      (found) => found.length > 0,
    );
    const startSec = Date.parse(`${String(first?.['time'])}Z`) / 1000;
    const inWindow = lines.flatMap((_, i) => {
      const sec = endSec - 30 + i * 5;
      return sec >= startSec && sec < startSec + windowSec ? [i] : [];
    });
    assert.equal(first?.['room'], 'a');
    assert.equal(first?.['celsius'], inWindow.reduce((a, b) => a + b, 0) / inWindow.length);
    const logs = await done('trigger', 'logs', 'means', '-d', 'home', '-f', 'csv');
    assert.match(logs, /averages of temp written to temp_mean/);
    await done('trigger', 'delete', 'means', '-d', 'home', '--force');
  });

  it('raises an alert once, and takes it back, as events of the webhook service', async () => {
    await done(
      ...['trigger', 'create', 'hot', '-d', 'home', '--plugin', 'threshold_alert.py'],
      ...['--spec', 'table:oven', '--args', `field=celsius,limit=200,url=${server.url}`],
    );
    const logged = async (count: number) =>
      until(
        "SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = 'hot' AND (log_text LIKE 'raised%' OR log_text LIKE 'cleared%') ORDER BY event_time",
        (found) => found.length >= count,
      );
    await write(server, { db: 'home' }, 'oven,id=1 celsius=190 1');
    await write(server, { db: 'home' }, 'oven,id=1 celsius=210 2');
    await logged(1);
    await write(server, { db: 'home' }, 'oven,id=1 celsius=220 3');
    await write(server, { db: 'home' }, 'oven,id=1 celsius=100 4');
    const texts = (await logged(2)).map((row) => row['log_text']);
    assert.deepEqual(texts, ['raised oven {"id": "1"} 210.0', 'cleared oven {"id": "1"} 100.0']);
    const failed = await rows(
      "SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = 'hot' AND log_level = 'ERROR'",
    );
    assert.deepEqual(failed, []);
    await done('trigger', 'disable', 'hot', '-d', 'home');
  });

  it('answers requests with the newest rows', async () => {
    await write(server, { db: 'home' }, 'm,a=x f=1 1\nm,a=x f=2 2\nm,a=y f=3 1');
    await done(
      ...['trigger', 'create', 'latest', '-d', 'home', '--plugin', 'latest.py'],
      ...['--spec', 'request:latest'],
    );
    const ask = async (query: string) => {
      const { status, text } = await server.http.send(`/api/v3/engine/latest?${query}`);
      return [status, JSON.parse(text)] as const;
    };
    const [status, body] = await ask('table=m');
    assert.equal(status, 200);
    const { rows: found } = body as { rows: { a: string }[] };
    found.sort((a, b) => (a.a < b.a ? -1 : 1));
    assert.deepEqual(found, [
      { a: 'x', f: 2, time: 2 },
      { a: 'y', f: 3, time: 1 },
    ]);
    assert.deepEqual(await ask('table=none'), [404, { error: 'table none not found' }]);
    assert.match(await done('trigger', 'list', '-d', 'home'), /latest\.py/);
  });

  it('begins a plugin with a test that passes, uploads it and tries it out', async () => {
    const made = await runCli(['plugin', 'new', 'peaks', '--dir', work]);
    assert.equal(made.code, 0, made.stderr);
    const tested = spawnSync('python3', ['-B', '-m', 'unittest', 'test_peaks'], {
      cwd: work,
      encoding: 'utf8',
    });
    assert.equal(tested.status, 0, tested.stderr);
    assert.equal((await runCli(['plugin', 'new', 'peaks', '--dir', work])).code, 1);
    assert.equal(await done('plugin', 'upload', join(work, 'peaks.py')), 'peaks.py\n');
    const sample = join(work, 'sample.lp');
    await writeFile(sample, 'cpu value=5 1\ncpu value=500 2\n');
    const report = await done('plugin', 'test', 'peaks.py', '-d', 'home', '--lp', sample);
    assert.match(report, /INFO: cpu: 1 of 2 rows above 100\.0/);
    assert.match(report, /would write to home:\n {2}peaks_found,table=cpu value=500\.0 2\n/);
    await writeFile(
      join(folder, 'broken.py'),
      'def process_writes(a, b, c=None):\n    raise ValueError("no")\n',
    );
    const broken = await plinth('plugin', 'test', 'broken.py', '-d', 'home', '--lp', sample);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /error executing plugin: ValueError: no/);
  });
});

// Source: processing-engine, "Node side": after a crash of one trigger the next event works.
import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { write } from '../../harness/index.js';
import { noPython, PluginServer } from './plugin-server.js';

/** Shorter than the first pause after crashes. */
const RUN_TIMEOUT = ['--plugin-run-timeout', '4s'];
const CRASHES = `
import os
def process_request(influxdb3_local, query, headers, body, args=None):
    if "crash" in query:
        os._exit(3)
    return {"pid": os.getpid()}
def process_writes(influxdb3_local, table_batches, args=None):
    if table_batches[0]["rows"][0]["f"] == 1.0:
        os._exit(3)
    influxdb3_local.info("alive")
`;

describe('Plugins whose process dies again and again', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
    await plugins.restart(RUN_TIMEOUT);
    await plugins.plugin('crashes.py', CRASHES);
    for (const specification of ['request:crashes', 'table:c']) {
      await plugins.create({
        plugin_filename: 'crashes.py',
        trigger_name: specification.startsWith('table') ? 'writes' : 'requests',
        trigger_specification: specification,
      });
    }
  });
  after(() => plugins.close());

  const get = (query = '') => plugins.server.http.send(`/api/v3/engine/crashes${query}`);
  const crashText = 'Python function call failed: WorkerCrash: Python worker exited (code 3)';

  it('answer the next request in a new process, however many crashed before', async () => {
    for (let round = 0; round < 3; round++) {
      const crashed = await Promise.all(Array.from({ length: 5 }, () => get('?crash=1')));
      for (const { status, text } of crashed) {
        assert.deepEqual([status, JSON.parse(text).error], [500, crashText]);
      }
      const next = await get();
      assert.equal(next.status, 200, next.text);
    }
  });

  it('keep rows waiting, say why, and get them when the pause is over', async () => {
    for (let crash = 1; crash <= 3; crash++) {
      await write(plugins.server, { db: 'db1' }, 'c f=1');
      const isNoted = async () =>
        (await plugins.logOf('writes')).filter((line) => line.includes('(code 3)')).length >= crash;
      for (let wait = 0; wait < 400 && !(await isNoted()); wait++) await sleep(25);
    }
    await write(plugins.server, { db: 'db1' }, 'c f=2');
    const lines = await plugins.logWith('writes', /alive/);
    const why =
      /^WARN runs wait up to 10 s: the plugin's process died 3 times within a minute, most recently: Python worker exited \(code 3\)$/;
    assert.equal(lines.filter((line) => why.test(line)).length, 1, lines.join('\n'));
    assert.ok(!lines.some((line) => line.includes('TimeoutError')), lines.join('\n'));
  });

  it('refuse requests at once, with the reason, while no process can be started', async () => {
    await get('?crash=1');
    const python = join(plugins.folder, '.venv', 'bin', 'python');
    await rename(python, `${python}-whole`);
    await writeFile(python, '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    const failed = 'Python function call failed: WorkerCrash: Python worker exited (code 9)';
    for (let start = 0; start < 3; start++) {
      const { status, text } = await get();
      assert.deepEqual([status, JSON.parse(text).error], [500, failed]);
    }
    for (let request = 0; request < 2; request++) {
      const { status, text, headers } = await get();
      assert.deepEqual(
        [status, JSON.parse(text).error],
        [503, 'the plugin cannot be started: Python worker exited (code 9)'],
      );
      const waitSec = Number(headers['retry-after']);
      assert.ok(waitSec >= 1 && waitSec <= 300, `${waitSec}`);
    }
  });
});

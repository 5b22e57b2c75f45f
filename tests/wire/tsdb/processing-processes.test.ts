// Source: processing-engine, "Processes": processes that plugins start end with them.
// Own process: its child processes are counted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess, temporaryFolder, write } from '../../harness/index.js';
import { assertDone, JSON_TYPE, noPython, rows, TRIGGER } from './plugin-server.js';

describe('Processes of plugins', { skip: noPython }, () => {
  const STARTS = `
import subprocess, sys
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    pids = []
    if "later" in query_parameters:
        subprocess.Popen(["sh", "-c", "sleep 1; for i in $(seq 30); do sleep 1000 & done; wait"])
    for i in range(int(query_parameters["count"])):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=i % 2 == 1)
        pids.append(child.pid)
    if "hold" in query_parameters:
        child.wait()
    return pids
`;
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder, 'starts.py'), STARTS);
  });

  async function open(flags: readonly string[] = []): Promise<ServerProcess> {
    const server = await ServerProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder, ...flags],
    });
    await write(server, { db: 'db1' }, 'seed f=1 1');
    const trigger = {
      db: 'db1',
      plugin_filename: 'starts.py',
      trigger_name: 'starts',
      trigger_specification: 'request:starts',
    };
    const body = JSON.stringify(trigger);
    assertDone(await server.http.send(TRIGGER, { method: 'POST', body, headers: JSON_TYPE }));
    return server;
  }

  async function ended(pids: readonly number[]): Promise<void> {
    for (let wait = 0; wait < 400 && pids.some(isRunning); wait++) await sleep(25);
    assert.deepEqual(pids.filter(isRunning), []);
  }

  it('are gone when the server is killed, also those that left their session', async () => {
    await using server = await open();
    const pids = JSON.parse(
      (await server.http.send('/api/v3/engine/starts?count=4')).text,
    ) as number[];
    assert.equal(pids.length, 4);
    assert.deepEqual(pids.filter(isRunning), pids);
    await server.kill();
    await ended(pids);
  });

  it('are ended when there are too many, with the reason in the log, and the trigger goes on', async () => {
    await using server = await open(['--plugin-process-limit', '10']);
    const response = await server.http.send('/api/v3/engine/starts?count=30&hold=1');
    const error = 'Python function call failed: WorkerCrash: the plugin had more than 10 processes';
    assert.deepEqual([response.status, JSON.parse(response.text)], [500, { error, data: {} }]);
    const few = JSON.parse(
      (await server.http.send('/api/v3/engine/starts?count=2')).text,
    ) as number[];
    assert.deepEqual(few.filter(isRunning), few);
    const q = "SELECT log_text FROM system.processing_engine_logs WHERE log_level = 'ERROR'";
    assert.deepEqual(await rows(server, 'db1', q), [
      {
        log_text:
          'error running request plugin: WorkerCrash: the plugin had more than 10 processes',
      },
    ]);
    // The response has already been sent: only the log contains the error.
    await server.http.send('/api/v3/engine/starts?count=0&later=1');
    const later =
      "SELECT log_text AS t FROM system.processing_engine_logs WHERE log_text LIKE 'WorkerCrash%'";
    for (let wait = 0; wait < 200 && (await rows(server, 'db1', later)).length === 0; wait++) {
      await sleep(25);
    }
    assert.deepEqual(await rows(server, 'db1', later), [
      { t: 'WorkerCrash: the plugin had more than 10 processes' },
    ]);
    await ended(few);
  });
});

/** A zombie process does not count as running. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

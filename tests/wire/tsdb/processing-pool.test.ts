// Source: processing-engine, "Processes": the number of processes, and the conditions for starting one.
// Own process: its child processes are counted.
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  type OwnServer,
  ServerInProcess,
  ServerProcess,
  temporaryFolder,
  until,
  write,
} from '../../harness/index.js';
import { assertDone, JSON_TYPE, noPython, TRIGGER } from './plugin-server.js';

const PLUGIN = `
import os, time
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    time.sleep(float(query_parameters.get("hold", "0")))
    return {"trigger": args["name"]}
`;
const TRIGGERS = 6;
const LIMIT = 2;

describe('Triggers that wait for work', { skip: noPython }, () => {
  let folder: string;
  let dataDir: string;
  before(async () => {
    folder = await temporaryFolder();
    dataDir = await temporaryFolder();
    await writeFile(join(folder, 'who.py'), PLUGIN);
  });
  after(() => rm(folder, { recursive: true }));
  const optionsOf = (pluginDir: string) => ({
    flags: ['--without-auth', '--plugin-dir', pluginDir, '--plugin-processes', `${LIMIT}`],
    dataDir,
  });
  const run = async (server: OwnServer, i: number, hold = 0): Promise<unknown> =>
    JSON.parse((await server.http.send(`/api/v3/engine/who${i}?hold=${hold}`)).text);
  const create = (server: OwnServer, i: number) => {
    const trigger = {
      db: 'db1',
      plugin_filename: 'who.py',
      trigger_name: `who${i}`,
      trigger_specification: `request:who${i}`,
      trigger_arguments: { name: `${i}` },
    };
    const body = JSON.stringify(trigger);
    return server.http.send(TRIGGER, { method: 'POST', body, headers: JSON_TYPE });
  };
  const all = Array.from({ length: TRIGGERS }, (_, i) => i);

  it('hold no process each, before they run and after', async () => {
    await using server = await ServerProcess.start(optionsOf(folder));
    await write(server, { db: 'db1' }, 'seed f=1 1');
    for (const i of all) assertDone(await create(server, i));
    assert.equal(await workersOf(server.pid), 0);
    for (const i of [...all, ...all]) {
      assert.deepEqual(await run(server, i), { trigger: `${i}` });
      // A worker that was replaced may still be stopping.
      const isWithin = async () => (await workersOf(server.pid)) <= LIMIT;
      await until(isWithin, 'no more processes than allowed');
    }
  });

  it('run one after the other when all processes are busy', async () => {
    await using server = await ServerProcess.start(optionsOf(folder));
    assert.equal(await workersOf(server.pid), 0);
    const responses = await Promise.all(all.map((i) => run(server, i, 0.05)));
    assert.deepEqual(
      responses,
      all.map((i) => ({ trigger: `${i}` })),
    );
    assert.ok((await workersOf(server.pid)) <= LIMIT);
  });

  it('say what is wrong with the plugin folder: one warning at the start, an error at each run', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await using server = await ServerInProcess.start(optionsOf(join(file, 'plugins')));
    const why = `plugin folder ${join(file, 'plugins')} cannot be created or read (`;
    for (let i = 0; i < 2; i++) {
      const response = await server.http.send('/api/v3/engine/who1');
      assert.equal(response.status, 500);
      assert.ok(JSON.parse(response.text).error.includes(why), response.text);
      assert.ok(JSON.parse(response.text).error.includes('ENOTDIR'), response.text);
    }
    const refused = await create(server, 99);
    assert.equal(refused.status, 503);
    assert.ok(refused.text.includes(why), refused.text);
    assert.equal(server.logText.split('"msg":"plugins cannot run"').length - 1, 1, server.logText);
  });
});

/** Counts Python processes whose parent is the server, without zombies. */
async function workersOf(parent: number): Promise<number> {
  let count = 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    if (!new RegExp(`^PPid:\\s+${parent}$`, 'm').test(status)) continue;
    if (/^Name:\s+python/m.test(status) && !/^State:\s+Z/m.test(status)) count++;
  }
  return count;
}

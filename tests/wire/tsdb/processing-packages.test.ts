// Source: processing-engine, "Packages and environment"; tsdb-http, "Processing engine over HTTP".
// Own process: it has variables for installers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';
import {
  assertDone,
  indexOf,
  isPythonHere,
  JSON_TYPE,
  makeWheel,
  noPython,
  PluginServer,
} from './plugin-server.js';

describe('Packages of plugins', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.startProcess((folder) => indexOf(join(folder, 'wheels')));
  });
  after(() => plugins.close());

  it('E-04 installs packages from a folder and from a requirements file', async () => {
    const wheels = join(plugins.folder, 'wheels');
    await makeWheel(wheels, 'plinth_sample', '1.2');
    const install = '/api/v3/configure/plugin_environment';
    const packages = ['plinth_sample == 1.2'];
    assertDone(await plugins.post(`${install}/install_packages`, { packages }));
    await plugins.plugin(
      'uses.py',
      'import plinth_sample\ndef process_request(a, b, c, d, args=None):\n    return plinth_sample.VALUE\n',
    );
    await plugins.create({
      plugin_filename: 'uses.py',
      trigger_name: 'uses',
      trigger_specification: 'request:uses',
    });
    assert.equal(
      (await plugins.server.http.send('/api/v3/engine/uses')).text,
      'value of plinth_sample',
    );
    await writeFile(
      join(plugins.folder, 'requirements.txt'),
      `--no-index\n--find-links ${wheels}\nplinth_sample==1.2\n`,
    );
    const location = { requirements_location: 'requirements.txt' };
    assertDone(await plugins.post(`${install}/install_requirements`, location));
    const none = { requirements_location: 'none.txt' };
    assert.equal((await plugins.post(`${install}/install_requirements`, none)).status, 404);
    assertDone(await plugins.post(`${install}/install_packages`, { packages: [] }));
    const wheel = join(wheels, 'plinth_sample-1.2-py3-none-any.whl');
    const options = ['--index-url=http://x', '-r file'];
    const places = [wheel, 'file:///etc', '../x', './x', 'x @ file:///etc', 'git+https://x/y'];
    for (const name of ['', ' ', 'x\0', 'x\ny', 'six;import os', ...options, ...places]) {
      const refused = await plugins.post(`${install}/install_packages`, { packages: [name] });
      assert.equal(refused.status, 400, name);
      assert.match(refused.text, /"error":"invalid package name '/);
    }
    const failed = await plugins.post(`${install}/install_packages`, { packages: ['no-such'] });
    assert.equal(failed.status, 500);
    const { error, data } = JSON.parse(failed.text) as { error: string; data: unknown };
    assert.equal(
      error,
      "Processing engine error: error installing python packages: 'no-such' names an unknown package or version (exit code 1); see the server log for the installer's output",
    );
    assert.deepEqual(data, { exit_code: 1 });
    await plugins.remove('uses');
  });
});

const isUvHere = isPythonHere && spawnSync('uv', ['--version']).status === 0;

describe('Packages', { skip: isUvHere ? false : 'uv or python3 is not installed' }, () => {
  it('E-04 are installed by uv where it is there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-plugins-'));
    try {
      const wheels = join(folder, 'wheels');
      await makeWheel(wheels, 'plinth_sample', '1.2');
      const flags = ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder];
      await using server = await ServerProcess.start({ flags, env: indexOf(wheels) });
      const install = (name: string) =>
        server.http.send('/api/v3/configure/plugin_environment/install_packages', {
          method: 'POST',
          body: JSON.stringify({ packages: [name] }),
          headers: JSON_TYPE,
        });
      assertDone(await install('plinth_sample'));
      const python = join(folder, '.venv', 'bin', 'python');
      const imported = (name: string) => spawnSync(python, ['-c', `import ${name}`]).status;
      // pip would have been installed there first.
      assert.deepEqual([imported('plinth_sample'), imported('pip')], [0, 1]);
      const failed = await install('no-such');
      assert.equal(failed.status, 500);
      assert.match(failed.text, /error installing python packages: .*no-such/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

// Source: docs/CLIENTS.md of this repository: its examples run as they stand.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pythonWith, rows, runProgram, ServerProcess } from '../../harness/index.js';

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const PYTHON = {
  name: 'clients',
  packages: ['influxdb3-python', 'adbc-driver-flightsql', 'pyarrow'],
  probe: 'import influxdb_client_3, adbc_driver_flightsql, pyarrow.flight',
};

/** The first block of a language in a section of the page. */
function snippet(section: string, language: string, which = 0): string {
  const text =
    readFileSync(at('docs/CLIENTS.md'), 'utf8').split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ??
    '';
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
  const found = blocks[which]?.[1];
  assert.ok(found, `${section} has a block of ${language}`);
  return found;
}

const isInstalled = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

describe('the examples of docs/CLIENTS.md', () => {
  let server: ServerProcess;
  let token = '';
  let folder = '';
  before(async () => {
    server = await ServerProcess.start({ flags: [] });
    const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    token = (JSON.parse(created.text) as { token: string }).token;
    // Below the packages, so that the example finds the client as it would in its own project.
    folder = await mkdtemp(at('tests/dist/snippet-'));
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const here = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8181', server.url)
      .replaceAll('grpc://127.0.0.1:8181', server.url.replace('http', 'grpc'));
  const env = () => ({ PLINTH_TOKEN: token });
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await writeFile(file, here(text));
    return file;
  };
  const forget = async () => {
    const headers = { authorization: `Bearer ${token}` };
    await server.http.send('/api/v3/configure/table?db=home&table=room', {
      method: 'DELETE',
      headers,
    });
  };

  it('F-01 JavaScript writes a point and finds it again', async () => {
    await forget();
    const file = await write('client.mjs', snippet('JavaScript', 'js'));
    assert.equal(await runProgram(process.execPath, [file], { env: env() }), 'Kitchen 21.5\n');
  });

  it('F-01 Python writes a point and finds it again', async (context) => {
    const python = await pythonWith(PYTHON, context);
    if (python === undefined) return;
    await forget();
    const file = await write('client.py', snippet('Python', 'python'));
    assert.equal(await runProgram(python, [file], { env: env() }), 'Kitchen 21.5\n');
  });

  it('F-02 a driver of Flight SQL finds it with a bound parameter', async (context) => {
    const python = await pythonWith(PYTHON, context);
    if (python === undefined) return;
    await forget();
    const body = 'room,name=Kitchen temp=21.5\nroom,name=Cellar temp=11';
    const headers = { authorization: `Bearer ${token}` };
    await server.http.send('/api/v3/write_lp?db=home', { body, headers });
    const file = await write('adbc.py', snippet('Python', 'python', 1));
    assert.equal(await runProgram(python, [file], { env: env() }), 'Kitchen 21.5\n');
  });

  it('W-08 Telegraf delivers to the output', {
    skip: isInstalled('telegraf', '--version') ? false : 'telegraf is not installed',
  }, async () => {
    const input = '[agent]\n  omit_hostname = true\n[[inputs.mem]]\n';
    const file = await write('telegraf.conf', input + snippet('Telegraf', 'toml'));
    await runProgram('telegraf', ['--config', file, '--once'], { env: env() });
    const headers = { authorization: `Bearer ${token}` };
    const found = await rows(server, 'home', 'SELECT count(*) AS n FROM mem', headers);
    assert.deepEqual(found, [{ n: 1 }]);
  });
});

describe('the example for Go', () => {
  const isWanted = process.env['PLINTH_TEST_GO'] === '1' && isInstalled('go', 'version');
  it('F-01 writes a point and finds it again', {
    skip: isWanted
      ? false
      : 'needs go, and PLINTH_TEST_GO=1 because its client takes minutes to compile',
  }, async () => {
    await using server = await ServerProcess.start();
    const folder = await mkdtemp(join(tmpdir(), 'plinth-go-'));
    const timeoutMs = 1_500_000;
    try {
      const text = snippet('Go', 'go').replaceAll('http://127.0.0.1:8181', server.url);
      await writeFile(join(folder, 'main.go'), text);
      await runProgram('go', ['mod', 'init', 'example'], { cwd: folder });
      await runProgram('go', ['mod', 'tidy'], { cwd: folder, timeoutMs });
      const env = { PLINTH_TOKEN: 'any' };
      assert.equal(
        await runProgram('go', ['run', '.'], { cwd: folder, env, timeoutMs }),
        'Kitchen 21.5\n',
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

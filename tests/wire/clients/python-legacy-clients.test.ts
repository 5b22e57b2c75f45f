// Source: the Python packages `influxdb` (5.3) and `influxdb-client` (1.50), used as their documentation shows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pythonWith, rows, runProgram, ServerInProcess } from '../../harness/index.js';

const PACKAGES = {
  name: 'legacy-clients',
  packages: ['influxdb', 'influxdb-client'],
  probe: 'import influxdb, influxdb_client',
};
const PROGRAM = new URL('../../../wire/clients/python-legacy-clients.py', import.meta.url);

it('V-01 V-03 W-07 W-08 the Python clients of versions 1 and 2 write, read and are told', async (context) => {
  const python = await pythonWith(PACKAGES, context);
  if (python === undefined) return;
  await using server = await ServerInProcess.start({ flags: [] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const { token } = JSON.parse(created.text) as { token: string };
  const { hostname, port } = new URL(server.url);
  const output = await runProgram(python, [fileURLToPath(PROGRAM), hostname, port, token]);
  const found = output
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const point = { b: true, f: 1.5, h: 'a b', i: 3, s: 'q"x', time: 1_577_836_800_000, u: 'ü,=' };
  assert.deepEqual(Object.assign({}, ...found), {
    'v1 lists': true,
    'v1 reads': [point],
    'v1 binds': 1,
    'v1 reads chunks': (5000 * 4999) / 2,
    'v1 groups': ['0', '1', '2', '3', '4', '5', '6'],
    'v1 is refused': [400, true],
    'v2 pings': true,
    'v2 health': 'pass',
    'v2 ready': 'ready',
    'v2 is refused': [400, true],
    'v2 failures': 0,
    'v2 bucket': ['managed', 86_400],
    'v2 changed bucket': 0,
    'v2 user': 'authorization',
    'v2 authorizations': [true, false],
    'v2 bucket after deletion': null,
  });
  const headers = { authorization: `Bearer ${token}` };
  const sum = 'SELECT count(*) AS c, sum(n) AS n FROM seq';
  assert.deepEqual(await rows(server, 'v2', sum, headers), [{ c: 5000, n: (5000 * 4999) / 2 }]);
  assert.deepEqual(await rows(server, 'v2', 'SELECT h FROM m', headers), [{ h: 'c' }]);
});

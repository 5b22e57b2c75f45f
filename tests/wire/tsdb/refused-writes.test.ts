// Source: tsdb-http, "Refused rows".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rows, ServerInProcess } from '../../harness/index.js';

describe('refused rows', () => {
  let server: ServerInProcess;
  let admin = '';
  before(async () => {
    server = await ServerInProcess.start({ flags: [] });
    const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    admin = (JSON.parse(created.text) as { token: string }).token;
  });
  after(async () => await server.close());

  const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
  const send = async (path: string, body: string | Buffer, headers = {}): Promise<number> => {
    const options = { method: 'POST', body, headers: { ...headersOf(admin), ...headers } };
    return (await server.http.send(path, options)).status;
  };
  const refused = async (db: string, columns: string, token = admin) =>
    (await rows(
      server,
      db,
      `SELECT ${columns} FROM system.refused_writes ORDER BY time, line_number`,
      headersOf(token),
    )) as readonly unknown[];

  it('are listed with reason and sender, whatever the protocol', async () => {
    assert.equal(await send('/api/v3/write_lp?db=r', 'm,h=a v=1 1'), 204);
    assert.equal(await send('/api/v3/write_lp?db=r', 'm,h=a v=1 2\nm v="text" 3\nm v= 4'), 400);
    assert.equal(await send('/write?db=r', 'n,time=x v=1 5'), 400);
    assert.equal(await send('/api/v2/write?bucket=r&accept_partial=false', 'm v=1 6\nm v'), 400);
    const otlp = {
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                {
                  name: 'm',
                  gauge: {
                    dataPoints: [
                      {
                        timeUnixNano: '7',
                        asDouble: 1,
                        attributes: [{ key: 'v', value: { stringValue: 'x' } }],
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
    };
    const json = { 'content-type': 'application/json' };
    assert.equal(await send('/v1/metrics?db=r', JSON.stringify(otlp), json), 200);
    const columns = 'protocol, reason, line_number, line, sender, address';
    const row = { protocol: 'line_protocol', sender: '_admin', address: '127.0.0.1' };
    assert.deepEqual(await refused('r', columns), [
      { ...row, reason: 'type_conflict', line_number: 2, line: 'm v="text" 3' },
      { ...row, reason: 'syntax', line_number: 3, line: 'm v= 4' },
      { ...row, reason: 'reserved_name', line_number: 1, line: 'n,time=x v=1 5' },
      { ...row, reason: 'syntax', line_number: 2, line: 'm v' },
      { ...row, protocol: 'opentelemetry', reason: 'type_conflict', line_number: 1, line: 'm' },
    ]);
    const { text } = await server.http.send('/metrics', { headers: headersOf(admin) });
    const count = (labels: string) =>
      new RegExp(`^plinth_tsdb_refused_rows_total{${labels}} (\\d+)$`, 'm').exec(text)?.[1];
    assert.equal(count('protocol="line_protocol",reason="syntax"'), '2');
    assert.equal(count('protocol="line_protocol",reason="not_partial"'), '1');
    assert.equal(count('protocol="opentelemetry",reason="type_conflict"'), '1');
  });

  it('are visible to tokens that may read the database', async () => {
    await send('/api/v3/write_lp?db=other', 'm v=1 1\nm v="secret" 2');
    const permissions = [
      { resource_type: 'db', resource_identifier: ['r', '_internal'], actions: ['read'] },
    ];
    const created = await server.http.send('/api/v3/enterprise/configure/token', {
      method: 'POST',
      headers: { ...headersOf(admin), 'content-type': 'application/json' },
      body: JSON.stringify({ token_name: 'reader', permissions }),
    });
    const { token } = JSON.parse(created.text) as { token: string };
    const databases = async (of: string) =>
      new Set((await refused('_internal', 'database', of)).map((row) => JSON.stringify(row)));
    assert.deepEqual(await databases(token), new Set(['{"database":"r"}']));
    assert.deepEqual(await databases(admin), new Set(['{"database":"r"}', '{"database":"other"}']));
    assert.equal((await refused('r', 'line', token)).length, 5);
    const [row] = await refused('r', 'line_number, sender, address', token);
    assert.deepEqual(row, { line_number: 2 }, 'only administrators see the senders');
  });
});

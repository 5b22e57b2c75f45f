// Source: docs/TOKENS.md, "Permissions"; tsdb-http, "Schema on write, names, limits". One writer must not fill the server for all.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, ServerInProcess } from '../../harness/index.js';

describe('a token that may write', () => {
  let server: ServerInProcess;
  let admin = '';
  before(async () => {
    const flags = ['--num-database-limit', '20', '--num-table-limit', '100'];
    server = await ServerInProcess.start({ flags });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    admin = JSON.parse(made.text).token;
  });
  after(() => server.close());

  const tokenFor = async (database: string): Promise<string> => {
    const made = await server.http.send('/api/v3/enterprise/configure/token', {
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        token_name: `writes ${database}`,
        permissions: [{ resource_type: 'db', resource_identifier: [database], actions: ['write'] }],
      }),
    });
    return JSON.parse(made.text).token;
  };
  const write = (path: string, token: string, body: string) =>
    server.http.send(path, { headers: { authorization: `Bearer ${token}` }, body });
  const lines = (count: number, name: string): string =>
    Array.from({ length: count }, (_, i) => `${name}${i} v=1 1`).join('\n');

  it('makes a tenth of all databases as policies of its own, and half of all tables', async () => {
    const token = await tokenFor('a');
    assertEmpty(await write('/write?db=a&rp=p0', token, 'm v=1 1'));
    assertEmpty(await write('/api/v2/write?bucket=a/p1', token, 'm v=1 1'));
    const third = await write('/api/v3/write_lp?db=a/p2', token, 'm v=1 1');
    assert.equal(third.status, 422, third.text);
    assert.match(
      third.text,
      /database 'a' has reached the limit of 2 retention policies; only an admin token can add/,
    );
    const bucket = await write('/api/v2/write?bucket=a/p2', token, 'm v=1 1');
    assert.deepEqual([bucket.status, JSON.parse(bucket.text).code], [400, 'invalid']);
    // Two tables exist: a new one exceeds the limit.
    const tables = await write('/api/v3/write_lp?db=a&accept_partial=false', token, lines(49, 't'));
    assert.equal(tables.status, 400, tables.text);
    assert.match(tables.text, /already have 50 table\(s\) \(limit: 50\)/);
    assertEmpty(await write('/api/v3/write_lp?db=a', token, lines(48, 't')));

    assertEmpty(await write('/write?db=a&rp=p2', admin, 'm v=1 1'));
    assertEmpty(await write('/api/v3/write_lp?db=b', await tokenFor('b'), lines(3, 't')));
  });

  it('makes no more of them when it asks for many at a time', async () => {
    const token = await tokenFor('together');
    const names = Array.from({ length: 8 }, (_, i) => `together/p${i}`);
    const responses = await Promise.all(
      names.map((name) => write(`/api/v3/write_lp?db=${name}`, token, 'm v=1 1')),
    );
    const taken = responses.filter(({ status }) => status === 204);
    assert.equal(taken.length, 2, responses.map(({ text }) => text).join('\n'));
    for (const name of ['together', ...names]) {
      const headers = { authorization: `Bearer ${admin}` };
      const gone = `/api/v3/configure/database?db=${name}&hard_delete_at=now`;
      await server.http.send(gone, { method: 'DELETE', headers });
    }
  });

  it('leaves a tenth of everything to administrators', async () => {
    const token = await tokenFor('*');
    // Besides `a` with three policies, and `b`.
    for (let i = 5; i < 18; i++)
      assertEmpty(await write(`/api/v3/write_lp?db=c${i}`, token, 'm v=1 1'));
    const one = await write('/api/v3/write_lp?db=d', token, 'm v=1 1');
    assert.deepEqual(
      [one.status, JSON.parse(one.text).error],
      [422, 'Adding a new database would exceed limit of 18 databases'],
    );
    assertEmpty(await write('/api/v3/write_lp?db=d', admin, 'm v=1 1'));
  });
});

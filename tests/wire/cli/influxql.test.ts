// Source: `plinth query --help` and `plinth shell --help`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { SharedServer } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  const written = await server.http.send('/write?db=cli_home', {
    body: 'air,room=k temp=20 1\nair,room=b temp=18 2',
  });
  assert.equal(written.status, 204, written.text);
});
after(async () => await server.close());

describe('plinth query --language influxql', () => {
  it('runs InfluxQL queries', async () => {
    const q = 'SELECT max(temp) FROM air GROUP BY room';
    const args = [
      'query',
      '--host',
      server.url,
      '-d',
      'cli_home',
      '--language',
      'influxql',
      '--format',
      'csv',
      q,
    ];
    const { code, stdout, stderr } = await runCli(args);
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      'iox::measurement,time,room,max\nair,1970-01-01T00:00:00.000000002,b,18.0\nair,1970-01-01T00:00:00.000000001,k,20.0\n',
    );
  });

  it('reports the error of a query', async () => {
    const args = [
      'query',
      '--host',
      server.url,
      '-d',
      'cli_home',
      '--language',
      'influxql',
      'SELECT FROM air',
    ];
    const { code, stderr } = await runCli(args);
    assert.equal(code, 1);
    assert.match(stderr, /invalid SELECT statement, expected field at pos 7/);
  });
});

describe('plinth shell', () => {
  it('runs the statements of its input in both languages', async () => {
    const { code, stdout, stderr } = await runCli(
      ['shell', '--host', server.url, '--format', 'csv'],
      {
        input: `use cli_home\nSELECT count(*) AS n\n  FROM air;\nlanguage influxql\nSELECT sum(temp) FROM air; SHOW TAG KEYS;\nexit\n`,
      },
    );
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      'n\n2\niox::measurement,time,sum\nair,1970-01-01T00:00:00,38.0\niox::measurement,tagKey\nair,room\n',
    );
  });

  it('stops at an unknown database, so that later statements do not run on the previous one', async () => {
    const { code, stdout, stderr } = await runCli(
      ['shell', '--host', server.url, '-d', 'cli_home', '-f', 'csv'],
      { input: 'use nosuch\nSELECT 1 AS one;\n' },
    );
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /database not found: nosuch/);
  });

  it('continues after a failure and exits with its code', async () => {
    const { code, stdout } = await runCli(
      ['shell', '--host', server.url, '-d', 'cli_home', '-f', 'csv'],
      {
        input: 'SELECT nope FROM air; SELECT 1 AS one',
      },
    );
    assert.equal(code, 1);
    assert.match(stdout, /No field named nope[^\n]*\none\n1\n$/);
  });
});

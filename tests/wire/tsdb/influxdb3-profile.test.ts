// Source: tsdb-http, "Compatibility profile" and "Differences between the profiles": the second column of its table.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth', '--tsdb-compat', 'influxdb3'] });
});
after(async () => await server.close());

const NOTHING = 'Expected at least one space character, got end of input';

describe('profile influxdb3', () => {
  it('D1, D2 answers rows without a zone as json, and series on request', async () => {
    await server.http.send('/api/v3/write_lp?db=p&precision=s', { body: 'm v=1 1' });
    const rows = await server.http.send('/api/v3/query_sql?db=p&q=SELECT%20*%20FROM%20m');
    assert.equal(rows.headers['content-type'], 'application/json');
    assert.equal(rows.text, '[{"time":"1970-01-01T00:00:01","v":1.0}]');
    const series = await server.http.send(
      '/api/v3/query_sql?db=p&q=SELECT%20v%20FROM%20m&format=json_series',
    );
    assert.equal(
      series.text,
      '{"results":[{"series":[{"name":"m","columns":["v"],"values":[[1]]}]}]}',
    );
  });

  it('D9, D19 words refused lines as the real system does', async () => {
    const body = 'x'.repeat(30);
    const line = { error_message: NOTHING, line_number: 1, original_line: 'x'.repeat(20) };
    const partial = await server.http.send('/api/v3/write_lp?db=p', { body });
    assert.equal(partial.status, 400);
    assert.equal(
      partial.text,
      JSON.stringify({ error: 'partial write of line protocol occurred', data: [line] }),
    );
    const whole = await server.http.send('/api/v3/write_lp?db=p&accept_partial=false', { body });
    assert.equal(whole.text, JSON.stringify({ error: 'line protocol parsing error', data: line }));
  });

  it('D8 never accepts a partial write on the v1 and v2 endpoints', async () => {
    const body = 'm v=1 1\nm v=hi';
    const v1 = await server.http.send('/write?db=p8&accept_partial=true', { body });
    assert.equal(v1.status, 400);
    assert.match(v1.text, /"error":"line protocol parsing error"/);
    const slash = await server.http.send('/api/v2/write?bucket=p8/', { body: 'm v=1 1' });
    assert.equal(slash.status, 400);
    assert.match(slash.text, /invalid retention policy/);
    const v2 = await server.http.send('/api/v2/write?bucket=p8&accept_partial=true', { body });
    assert.equal(v2.status, 400);
    assert.equal(
      v2.text,
      '{"code":"invalid","message":"write buffer error: line protocol parse failed: No fields were provided"}',
    );
    const query = await server.http.send('/api/v3/query_sql?db=p8&q=SELECT%201');
    assert.equal(query.status, 404);
  });

  it('D10 answers failures of queries as text', async () => {
    const response = await server.http.send('/api/v3/query_sql?db=nowhere&q=SELECT%201');
    assert.equal(response.status, 404);
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(response.text, 'query error: database not found: nowhere');
  });
});

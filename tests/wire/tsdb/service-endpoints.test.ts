// Source: tsdb-http, "Transport and common behavior", "Error model" and "Service endpoints".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OwnServer, RawConnection, ServerInProcess } from '../../harness/index.js';

let server: OwnServer;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

describe('every answer', () => {
  it('T-02 carries the same cluster-uuid, errors and preflights included', async () => {
    const paths = ['/health', '/nowhere', '/api/v3/query_sql'];
    const responses = await Promise.all(paths.map((path) => server.http.send(path)));
    const preflight = await server.http.send('/any/path', { method: 'OPTIONS' });
    const uuids = new Set([...responses, preflight].map(({ headers }) => headers['cluster-uuid']));
    assert.equal(uuids.size, 1);
    assert.match(String([...uuids][0]), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('T-02 lets browsers of any origin in that have a token', async () => {
    await using closed = await ServerInProcess.start({ flags: [] });
    const { status, headers, text } = await closed.http.send('/any/path', { method: 'OPTIONS' });
    assert.equal(status, 204);
    assert.equal(text, '');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['access-control-allow-methods'], '*');
    assert.equal(headers['access-control-allow-headers'], '*');
    assert.equal(headers['access-control-max-age'], '86400');
  });

  it('T-05 to an unknown path or method is 404 with error and data', async () => {
    for (const [path, method] of [
      ['/api/v3/nowhere', 'GET'],
      ['/api/v3/write_lp', 'GET'],
      ['/api/v3/query_sql', 'DELETE'],
      ['/debug/pprof/heap', 'GET'],
    ] as const) {
      const { status, headers, text } = await server.http.send(path, { method });
      assert.equal(status, 404, `${method} ${path}`);
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(text, '{"error":"Not found","data":{}}');
    }
  });
});

describe('service endpoints', () => {
  it('P-01 say that the server is healthy', async () => {
    for (const path of ['/health', '/api/v1/health']) {
      const { status, headers, text } = await server.http.send(path);
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(text, 'OK');
      const head = await server.http.send(path, { method: 'HEAD' });
      assert.equal(head.status, 200);
      assert.equal(head.text, '');
    }
  });

  // Source: `HealthCheck` of the InfluxDB 2.x API; its generated clients accept only JSON.
  it('P-01 say it in JSON to who asks for nothing else', async () => {
    const ask = async (accept: string) =>
      await server.http.send('/health', { headers: { accept, authorization: 'Bearer any' } });
    const { status, headers, text } = await ask('application/json');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json');
    const { name, status: health, message, checks, version } = JSON.parse(text);
    assert.deepEqual(
      { name, health, message, checks },
      { name: 'influxdb', health: 'pass', message: 'ready for queries and writes', checks: [] },
    );
    assert.match(version, /^3\.\d+\.\d+/);
    // Source: the clients for Go and Java, which send no specific Accept header.
    const raw = async (userAgent: string) => {
      const connection = await RawConnection.open(server.url);
      connection.send(
        `GET /health HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${userAgent}\r\n\r\n`,
      );
      const response = await connection.until(/\r\n\r\n(?:OK|\{.*\})$/);
      connection.finish();
      return response;
    };
    assert.match(await raw('influxdb-client-go/2.14.0 (linux; amd64)'), /"status":"pass"/);
    assert.match(await raw('Go-http-client/1.1'), /\r\n\r\nOK$/);
    const ready = await server.http.send('/ready', { headers: { accept: 'application/json' } });
    const { started, up, status: state } = JSON.parse(ready.text);
    assert.equal(state, 'ready');
    assert.ok(Date.parse(started) <= Date.now());
    assert.match(up, /^\d+(\.\d+)?s$/);
    for (const accept of ['application/json, text/plain, */*', '*/*', 'text/html', 'text/plain']) {
      assert.equal((await ask(accept)).text, 'OK', accept);
    }
  });

  // Source: `Ping` of influxdb1-client for Go and `ping` of `influxdb` for Python: a status other than 204 is an error.
  it('P-02 answer clients of version 1 that know 204 alone', async () => {
    const known = [{ 'user-agent': 'InfluxDBClient' }, { accept: 'application/x-msgpack' }];
    for (const headers of known) {
      const response = await server.http.send('/ping', { headers });
      assert.equal(response.status, 204);
      assert.equal(response.text, '');
      assert.match(String(response.headers['x-influxdb-version']), /^3\.\d+\.\d+/);
    }
    const others = [{ 'user-agent': 'InfluxDBShell/1.8.10' }, { accept: 'application/json' }];
    for (const headers of others) {
      assert.equal((await server.http.send('/ping', { headers })).status, 200);
    }
  });

  it('P-02 report version and revision by GET, POST and HEAD', async () => {
    for (const method of ['GET', 'POST', 'HEAD']) {
      const { status, headers, text } = await server.http.send('/ping', { method });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/json');
      assert.match(String(headers['x-influxdb-version']), /^3\.\d+\.\d+/);
      assert.equal(headers['x-influxdb-build'], 'Core');
      assert.match(String(headers['request-id']), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      assert.equal(headers['x-request-id'], headers['request-id']);
      if (method === 'HEAD') continue;
      const body = JSON.parse(text) as Record<string, unknown>;
      const keys = ['product_name', 'version', 'revision', 'process_id'];
      assert.deepEqual(Object.keys(body), keys);
      assert.equal(body['version'], headers['x-influxdb-version']);
      assert.match(String(body['process_id']), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    }
  });

  it('P-03 show metrics as Prometheus text', async () => {
    await server.http.send('/health');
    const { status, headers, text } = await server.http.send('/metrics');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(text, /^http_requests_total\{method="GET",path="\/health",status="ok"\} \d+$/m);
    assert.ok(text.endsWith('# EOF\n'));
  });

  // Source: `/debug/vars` of a 1.6.7 server, and the members that Telegraf's InfluxDB input reads.
  it('P-03 show what they count under the names of a 1.x server', async () => {
    await using own = await ServerInProcess.start();
    const write = (target: string, body: string) => own.http.send(target, { method: 'POST', body });
    await write('/write?db=home', 'room,name=a v=1 1\nroom,name=b v=1 1\nhall v=1 1');
    await write('/write?db=home', 'room,name=a v=2 2\nroom,name=c v="text" 2');
    await own.http.send('/query?q=CREATE+RETENTION+POLICY+two+ON+home+DURATION+INF+REPLICATION+1', {
      method: 'POST',
    });
    await write('/write?db=home&rp=two', 'room,name=d v=1 1');
    await own.http.send('/ping');
    await own.http.send('/query?db=home&q=SELECT+v+FROM+room');
    await own.http.send('/query?db=home');
    const { status, headers, text } = await own.http.send('/debug/vars');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    const { system, build, runtime, queryExecutor, httpd, ...rest } = JSON.parse(text);
    assert.ok(Date.parse(system.started) <= Date.parse(system.currentTime));
    assert.ok(Number.isInteger(system.uptime));
    assert.match(build.Version, /^3\.\d+\.\d+/);
    assert.ok(runtime.values.HeapAlloc > 0 && runtime.values.Sys > runtime.values.HeapAlloc);
    assert.deepEqual(rest['database:home'], {
      name: 'database',
      tags: { database: 'home' },
      values: { numMeasurements: 2, numSeries: 4 },
    });
    const { queryDurationNs, ...queries } = queryExecutor.values;
    assert.deepEqual(queries, { queriesActive: 0, queriesExecuted: 2, queriesFinished: 2 });
    assert.ok(queryDurationNs > 0);
    const { req, writeReq, writeReqBytes, queryReq, pingReq, clientError, serverError } =
      httpd.values;
    assert.deepEqual(
      { writeReq, writeReqBytes, queryReq, pingReq, clientError, serverError },
      {
        writeReq: 3,
        writeReqBytes: 46 + 40 + 17,
        queryReq: 3,
        pingReq: 1,
        clientError: 2,
        serverError: 0,
      },
    );
    assert.ok(req >= 7);
    assert.equal(httpd.values.pointsWrittenOK, 5);
    assert.equal(httpd.values.pointsWrittenDropped, 1);
    assert.doesNotMatch(text, /cmdline/);
  });

  it('P-03 show it to nobody without a token', async () => {
    await using own = await ServerInProcess.start({ flags: [] });
    assert.equal((await own.http.send('/debug/vars')).status, 401);
  });
});

// Source: docs/TRACING.md, "Spans"; W3C Trace Context; OpenTelemetry semantic conventions for HTTP servers and databases.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlightClient, jsonTicket } from '../../harness/flight-client.js';
import { type Json, ServerInProcess, WebhookReceiver } from '../../harness/index.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SAMPLED = { traceparent: `00-${TRACE}-${SPAN}-01` };

const open: AsyncDisposable[] = [];
after(async () => {
  for (const one of open.reverse()) await one[Symbol.asyncDispose]();
});

async function start(...flags: string[]) {
  const spans: Record<string, Json>[] = [];
  const state = { status: 200 };
  const bodies: string[] = [];
  const collector = await WebhookReceiver.start((delivery, response) => {
    if (state.status === 200) {
      bodies.push(delivery.body);
      spans.push(...JSON.parse(delivery.body).resourceSpans[0].scopeSpans[0].spans);
    }
    response.writeHead(state.status).end('{}');
  });
  const url = collector.url.replace('/hook', '/v1/traces');
  const server = await ServerInProcess.start({
    flags: ['--without-auth', `--server-otlp-traces-url=${url}`, ...flags],
  });
  open.push({ [Symbol.asyncDispose]: async () => void (await collector.close()) }, server);
  const until = async (isThere: () => unknown) => {
    for (const endMs = Date.now() + 10_000; !isThere(); await sleep(50)) {
      assert.ok(Date.now() < endMs, JSON.stringify(spans));
    }
  };
  return { server, spans, bodies, state, until };
}

const attributesOf = (span: Record<string, Json> | undefined): Record<string, Json> =>
  Object.fromEntries(
    span?.['attributes'].map(({ key, value }: Json) => [
      key,
      value.stringValue ?? Number(value.intValue),
    ]),
  );

describe('traces of requests', () => {
  it('continue the trace of the client, with query steps but without query text', async () => {
    const { server, spans, bodies, until } = await start('--server-otlp-sample-ratio=0');
    const write = { body: 'm v=1 1\nm v=2 2\nm v=3 3', headers: SAMPLED };
    assert.equal((await server.http.send('/api/v3/write_lp?db=d', write)).status, 204);
    const q = encodeURIComponent("SELECT v, 'hidden' AS s FROM m WHERE v > 1 ORDER BY time");
    const sql = `/api/v3/query_sql?db=d&format=csv&q=${q}`;
    assert.equal((await server.http.send(sql, { headers: SAMPLED })).status, 200);
    const v1 = `/query?db=d&q=${encodeURIComponent('SELECT v FROM m')}`;
    assert.equal((await server.http.send(v1, { headers: SAMPLED })).status, 200);
    assert.equal((await server.http.send(sql)).status, 200, 'not sampled');
    await until(() => spans.length >= 7);
    const requests = spans.filter(({ kind }) => kind === 2);
    assert.deepEqual(requests.map(({ name }) => name).sort(), [
      'GET /api/v3/query_sql',
      'GET /query',
      'POST /api/v3/write_lp',
    ]);
    for (const span of requests) {
      assert.deepEqual([span['traceId'], span['parentSpanId']], [TRACE, SPAN]);
      assert.match(String(span['spanId']), /^[0-9a-f]{16}$/);
      assert.deepEqual(span['status'], {});
      assert.ok(BigInt(span['endTimeUnixNano']) >= BigInt(span['startTimeUnixNano']));
    }
    const named = (name: string) => requests.find((span) => span['name'] === name);
    assert.deepEqual(attributesOf(named('POST /api/v3/write_lp')), {
      'http.request.method': 'POST',
      'http.route': '/api/v3/write_lp',
      'url.path': '/api/v3/write_lp',
      'url.scheme': 'http',
      'http.request.body.size': 23,
      'db.system.name': 'influxdb',
      'db.namespace': 'd',
      'http.response.status_code': 204,
      'plinth.write.rows': 3,
    });
    for (const [name, language, rows] of [
      ['GET /api/v3/query_sql', 'sql', 2],
      ['GET /query', 'influxql', 3],
    ] as const) {
      const steps = spans.filter(({ parentSpanId }) => parentSpanId === named(name)?.['spanId']);
      assert.deepEqual(steps.map((step) => step['name']).sort(), ['execute', 'plan']);
      assert.ok(steps.every(({ kind, traceId }) => kind === 1 && traceId === TRACE));
      const attributes = attributesOf(steps.find((step) => step['name'] === 'execute'));
      assert.equal(attributes['db.response.returned_rows'], rows);
      assert.equal(attributes['db.operation.name'], 'SELECT');
      assert.equal(attributes['db.namespace'], 'd');
      assert.equal(attributes['plinth.query.language'], language);
      assert.match(attributes['plinth.query.digest'], /^[0-9a-f]{16}$/);
    }
    assert.doesNotMatch(bodies.join(), /hidden|WHERE/);
  });

  it('include Flight queries', async () => {
    const { server, spans, until } = await start('--server-otlp-sample-ratio=0');
    await server.http.send('/api/v3/write_lp?db=d', { body: 'm v=1 1\nm v=2 2' });
    await using client = new FlightClient(server.url);
    const ticket = { database: 'd', sql_query: 'SELECT v FROM m', query_type: 'sql' };
    await client.doGet(jsonTicket(ticket), { metadata: SAMPLED });
    await until(() => spans.length >= 3);
    const request = spans.find(({ kind }) => kind === 2);
    assert.match(String(request?.['name']), /FlightService/);
    assert.deepEqual([request?.['traceId'], request?.['parentSpanId']], [TRACE, SPAN]);
    const execute = spans.find(({ name }) => name === 'execute');
    assert.equal(execute?.['parentSpanId'], request?.['spanId']);
    assert.equal(attributesOf(execute)['db.response.returned_rows'], 2);
  });

  it('follow the ratio without a valid traceparent, otherwise the flag of the client', async () => {
    const { server, spans, until } = await start('--server-otlp-sample-ratio=1');
    const ping = async (traceparent?: string) =>
      await server.http.send('/ping', { headers: traceparent ? { traceparent } : {} });
    await ping(`00-${TRACE}-${SPAN}-00`);
    await ping(`00-${'0'.repeat(32)}-${SPAN}-01`);
    await ping();
    await until(() => spans.length >= 2);
    assert.equal(spans.length, 2);
    for (const { traceId, parentSpanId } of spans) {
      assert.match(traceId, /^(?!0{32})[0-9a-f]{32}$/);
      assert.notEqual(traceId, TRACE);
      assert.equal(parentSpanId, undefined);
    }
    assert.notEqual(spans[0]?.['traceId'], spans[1]?.['traceId']);
  });

  it('are counted if the collector refuses them', async () => {
    const { server, state, until } = await start();
    state.status = 503;
    await server.http.send('/ping', { headers: SAMPLED });
    let text = '';
    await until(() => server.logText.includes('collector rejected spans'));
    text = (await server.http.send('/metrics')).text;
    assert.match(text, /^plinth_trace_spans_dropped_total 1$/m);
  });
});

// Source: tsdb-http, "Prometheus remote read"; Prometheus remote read, `prompb/remote.proto`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess, write } from '../../harness/index.js';
import {
  remoteWrite,
  type Series,
  snappy,
  staleRequest,
} from '../../harness/prometheus-messages.js';
import {
  bitsOf,
  chunkedSeries,
  type Matcher,
  type ReadOptions,
  type ReadSeries,
  STALE_BITS,
  sampledSeries,
  sendRead,
} from '../../harness/prometheus-reader.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth'] });
});
after(async () => await server.close());

const TIME_MS = 1_735_549_200_000;

async function read(matchers: readonly Matcher[], options: ReadOptions): Promise<ReadSeries[]> {
  const response = await sendRead(server, matchers, options);
  assert.equal(response.status, 200, response.text);
  const type = options.chunked
    ? 'application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse'
    : 'application/x-protobuf';
  assert.equal(response.headers['content-type'], type);
  assert.equal(response.headers['content-encoding'], options.chunked ? undefined : 'snappy');
  return options.chunked ? chunkedSeries(response) : sampledSeries(response);
}

async function store(db: string, series: readonly Series[]): Promise<void> {
  const response = await remoteWrite(server, series, { path: `/api/v1/write?db=${db}` });
  assert.equal(response.status, 204, response.text);
}

for (const chunked of [false, true]) {
  const kind = chunked ? 'streamed chunks' : 'samples';
  describe(`POST /api/v1/read with ${kind}`, () => {
    it('returns what was written, stale markers and infinities included', async () => {
      const labels = { __name__: 'up', job: 'a', zone: 'x "y"' };
      const db = `same-${chunked}`;
      const values = [0, -0, 1.5, -1e300, 5e-324, Number.POSITIVE_INFINITY, 1 / 3];
      const samples = values.map((value, i) => [value, TIME_MS + i * 15_000] as const);
      await store(db, [[labels, ...samples]]);
      const path = `/api/v1/write?db=${db}`;
      await remoteWrite(server, staleRequest(labels, TIME_MS + 200_000), { path });
      const expected = [
        ...samples.map(([value, timeMs]) => [timeMs, bitsOf(value)] as const),
        [TIME_MS + 200_000, STALE_BITS] as const,
      ];
      const options = { chunked, path: `/api/v1/read?db=${db}` };
      assert.deepEqual(await read([['__name__', '=', 'up']], options), [
        { labels, samples: expected },
      ]);
      const range = { ...options, startMs: TIME_MS + 15_000, endMs: TIME_MS + 30_000 };
      assert.deepEqual(await read([['__name__', '=', 'up']], range), [
        { labels, samples: expected.slice(1, 3) },
      ]);
      assert.deepEqual(await read([['__name__', '=', 'down']], options), []);
    });

    it('matches labels as Prometheus does', async () => {
      const db = `match-${chunked}`;
      const hosts = ['a.b', 'axb', 'a', ''];
      const named = (metric: string, host: string) => ({
        __name__: metric,
        ...(host === '' ? {} : { host }),
      });
      await store(
        db,
        ['m', 'n'].flatMap((metric) =>
          hosts.map((host): Series => [named(metric, host), [1, TIME_MS]]),
        ),
      );
      const check = async (matchers: readonly Matcher[], metrics: string[], found: string[]) => {
        const series = await read(matchers, { chunked, path: `/api/v1/read?db=${db}` });
        const expected = metrics.flatMap((metric) => found.map((host) => named(metric, host)));
        const key = (labels: object) => JSON.stringify(Object.entries(labels).sort());
        assert.deepEqual(
          series.map(({ labels }) => key(labels)).sort(),
          expected.map(key).sort(),
          JSON.stringify(matchers),
        );
      };
      const m: Matcher = ['__name__', '=', 'm'];
      await check([m], ['m'], hosts);
      await check([['__name__', '=~', 'm|n']], ['m', 'n'], hosts);
      await check(
        [
          ['__name__', '=~', 'x|'],
          ['host', '=', 'a'],
        ],
        [],
        [],
      );
      await check([['__name__', '!=', 'm']], ['n'], hosts);
      await check([['host', '=', 'a']], ['m', 'n'], ['a']);
      await check([m, ['host', '=', '']], ['m'], ['']);
      await check([m, ['host', '!=', '']], ['m'], ['a.b', 'axb', 'a']);
      await check([m, ['host', '!=', 'a']], ['m'], ['a.b', 'axb', '']);
      // Expressions match the complete value.
      await check([m, ['host', '=~', 'a']], ['m'], ['a']);
      await check([m, ['host', '=~', 'a|b']], ['m'], ['a']);
      await check([m, ['host', '=~', 'a\\.b']], ['m'], ['a.b']);
      await check([m, ['host', '=~', 'a[\\-.]b']], ['m'], ['a.b']);
      await check([m, ['host', '=~', 'a[^/]b']], ['m'], ['a.b', 'axb']);
      await check([m, ['host', '=~', '.*']], ['m'], hosts);
      await check([m, ['host', '=~', '.+']], ['m'], ['a.b', 'axb', 'a']);
      await check([m, ['host', '!~', 'a.*']], ['m'], ['']);
      await check([m, ['host', '!~', '']], ['m'], ['a.b', 'axb', 'a']);
      await check([m, ['nosuch', '=', '']], ['m'], hosts);
      await check([m, ['nosuch', '=', 'x']], [], []);
      await check([m, ['nosuch', '!=', 'x']], ['m'], hosts);
      await check([m, ['value', '=', '']], ['m'], hosts);
    });

    it('reads long series, and sorts series with different labels', async () => {
      const db = `long-${chunked}`;
      const samples = Array.from({ length: 5000 }, (_, i) => {
        const jitter = i % 7 === 0 ? i % 13 : 0;
        return [Math.sin(i) * (i % 11), TIME_MS + i * 15_000 + jitter] as const;
      });
      const all: Series['0'][] = [
        { Zone: 'upper', __name__: 'z' },
        { __name__: 'm', a: '1' },
        { __name__: 'm', a: '1', b: '1' },
        { __name__: 'm', b: '0' },
        { __name__: 'm', time: 't', value: 'v' },
      ];
      await store(
        db,
        all.toReversed().map((labels) => [labels, ...samples]),
      );
      const found = await read([['__name__', '=~', '.+']], {
        chunked,
        path: `/api/v1/read?db=${db}`,
      });
      const expected = samples.map(([value, timeMs]) => [timeMs, bitsOf(value)]);
      const byLabel = (series: readonly { readonly labels: Series['0'] }[]) =>
        series.map(({ labels }) => JSON.stringify(Object.entries(labels).sort()));
      const wanted = byLabel(all.map((labels) => ({ labels })));
      assert.deepEqual(
        chunked ? byLabel(found) : byLabel(found).sort(),
        chunked ? wanted : wanted.sort(),
      );
      for (const series of found) assert.deepEqual(series.samples, expected);
    });

    it('reads numbers of other writers, and no other fields', async () => {
      const db = `lines-${chunked}`;
      const lines =
        'i,h=a value=5i 1735549200000000001\ni,h=a other=1 1735549201000000000\nt value="x" 1';
      await write(server, { db }, lines);
      const options = { chunked, path: `/api/v1/prom/read?db=${db}` };
      assert.deepEqual(await read([['__name__', '=~', '.+']], options), [
        { labels: { __name__: 'i', h: 'a' }, samples: [[TIME_MS, bitsOf(5)]] },
      ]);
    });
  });
}

describe('POST /api/v1/read', () => {
  it('reads the policy of the parameters', async () => {
    const path = '?db=policies&rp=weekly';
    const series: Series[] = [[{ __name__: 'p' }, [7, TIME_MS]]];
    await remoteWrite(server, series, { path: `/api/v1/prom/write${path}` });
    await remoteWrite(server, [[{ __name__: 'p' }, [8, TIME_MS]]], {
      path: '/api/v1/prom/write?db=policies',
    });
    const valueIn = async (query: string) =>
      (await read([['__name__', '=', 'p']], { path: `/api/v1/prom/read${query}` }))[0]
        ?.samples[0]?.[1];
    assert.equal(await valueIn(path), bitsOf(7));
    assert.equal(await valueIn('?db=policies'), bitsOf(8));
  });

  it('says what is wrong with a request', async () => {
    await store('errors', [[{ __name__: 'p', a: 'x' }, [7, TIME_MS]]]);
    const path = '/api/v1/read?db=errors';
    const errorOf = ({ status, text }: { readonly status: number; readonly text: string }) => [
      status,
      (JSON.parse(text) as { readonly error: string }).error,
    ];
    const regex = await sendRead(server, [['a', '=~', '(']], { path });
    assert.match(String(errorOf(regex)), /^400,invalid regular expression "\(": /);
    const long = await sendRead(server, [['a', '=~', 'x'.repeat(100_001)]], { path });
    assert.deepEqual(errorOf(long), [
      400,
      'the regular expressions take too many steps to evaluate; use simpler expressions',
    ]);
    const unknown = await sendRead(server, [], { path: '/api/v1/read?db=nosuch' });
    assert.equal(unknown.status, 404, unknown.text);
    const send = (body: Uint8Array, headers: Record<string, string> = {}) =>
      server.http.send(path, { body, headers });
    assert.match(String(errorOf(await send(Buffer.from('x')))), /^400,error decoding snappy block/);
    assert.match(
      String(errorOf(await send(snappy(Buffer.from([0x0a, 9]))))),
      /^400,not a valid remote read message: a length of 9 bytes exceeds its message/,
    );
    const type = { 'content-type': 'text/plain' };
    assert.equal((await send(snappy(new Uint8Array(0)), type)).status, 415);
    assert.equal((await send(Buffer.alloc(1_048_577))).status, 413);
  });

  it('requires read permission', async () => {
    await using secured = await ServerInProcess.start({ flags: [] });
    const made = await secured.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const admin = { authorization: `Bearer ${token}` };
    const series: Series[] = [[{ __name__: 'p' }, [7, TIME_MS]]];
    await remoteWrite(secured, series, { path: '/api/v1/write?db=d', headers: admin });
    const body = JSON.stringify({
      token_name: 'writer',
      permissions: [{ resource_type: 'db', resource_identifier: ['d'], actions: ['write'] }],
    });
    const headers = { ...admin, 'content-type': 'application/json' };
    const path = '/api/v3/enterprise/configure/token';
    const writer = await secured.http.send(path, { headers, body });
    const { token: weak } = JSON.parse(writer.text) as { readonly token: string };
    const status = async (target: string, given: Record<string, string>) =>
      (await sendRead(secured, [['__name__', '=', 'p']], { path: target, headers: given })).status;
    for (const target of ['/api/v1/read?db=d', '/api/v1/prom/read?db=d']) {
      assert.equal(await status(target, {}), 401);
      assert.equal(await status(target, { authorization: `Bearer ${weak}` }), 403);
      assert.equal(await status(target, admin), 200);
    }
    assert.equal(await status(`/api/v1/prom/read?db=d&u=x&p=${token}`, {}), 200);
    // The status does not show which databases exist.
    const unknown = await status('/api/v1/read?db=nosuch', { authorization: `Bearer ${weak}` });
    assert.equal(unknown, 403);
  });
});

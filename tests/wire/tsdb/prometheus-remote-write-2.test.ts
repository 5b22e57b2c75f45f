// Source: tsdb-http, "Prometheus remote write"; Prometheus remote write 2.0 and native histograms.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';
import { encodeMessage, remoteWrite } from '../../harness/prometheus-messages.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth'] });
});
after(async () => await server.close());

const TIME_MS = 1_735_549_200_000;
const HEADERS = {
  'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
  'x-prometheus-remote-write-version': '2.0.0',
};
const SYMBOLS = ['', '__name__', 'm', 'job', 'a', 'b', 'help', '\xff'];

async function rows(db: string, q: string): Promise<unknown> {
  const response = await server.http.send(
    `/api/v3/query_sql?format=json_rows&db=${db}&q=${encodeURIComponent(q)}`,
  );
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text);
}

const write2 = (db: string, timeseries: readonly object[], symbols: readonly string[] = SYMBOLS) =>
  remoteWrite(server, encodeMessage('io.prometheus.write.v2.Request', { symbols, timeseries }), {
    path: `/api/v1/write?db=${db}`,
    headers: HEADERS,
  });

const written = (response: { readonly headers: Readonly<Record<string, unknown>> }) =>
  ['samples', 'histograms', 'exemplars'].map((kind) =>
    Number(response.headers[`x-prometheus-remote-write-${kind}-written`]),
  );
const errorOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { readonly error: string }).error;

/** Source: the example of an integer histogram in Prometheus, `TestHistogram`, shortened. */
const INTEGER = {
  count_int: 9,
  sum: 18.4,
  schema: 1,
  zero_threshold: 0.001,
  zero_count_int: 2,
  positive_spans: [
    { offset: 0, length: 2 },
    { offset: -1, length: 1 },
  ],
  positive_deltas: [1, 2, -3],
  negative_spans: [{ offset: 3, length: 1 }],
  negative_deltas: [4],
  timestamp: TIME_MS,
};

describe('POST /api/v1/write with io.prometheus.write.v2.Request', () => {
  it('stores samples into the same series as version 1', async () => {
    const first = await remoteWrite(server, [[{ __name__: 'm', job: 'a' }, [1, TIME_MS]]], {
      path: '/api/v1/write?db=both',
    });
    assert.deepEqual(written(first), [1, 0, 0]);
    const response = await write2('both', [
      {
        labels_refs: [1, 2, 3, 4],
        samples: [
          { value: 2, timestamp: TIME_MS },
          { value: 3, timestamp: TIME_MS + 1 },
        ],
        exemplars: [{ labels_refs: [3, 5], value: 1, timestamp: TIME_MS }],
        metadata: { type: 1, help_ref: 6 },
        created_timestamp: TIME_MS - 1000,
      },
    ]);
    assert.equal(response.status, 204, response.text);
    assert.deepEqual(written(response), [2, 0, 0]);
    assert.deepEqual(await rows('both', 'SELECT job, value FROM m ORDER BY time'), [
      { job: 'a', value: 2 },
      { job: 'a', value: 3 },
    ]);
  });

  it('refuses series whose references are invalid, and writes the others', async () => {
    const samples = [{ value: 1, timestamp: TIME_MS }];
    const cases: readonly (readonly [readonly number[], string])[] = [
      [[1, 2, 3], 'a label has a name, but no value'],
      [[1, 2, 3, 8], 'the label reference 8 is out of range; the request has 8 symbols'],
      [[3, 4], 'the label "__name__" is missing'],
      [[1, 2, 3, 4, 3, 5], 'the label "job" is repeated'],
    ];
    for (const [labels_refs, message] of cases) {
      const response = await write2('refused', [
        { labels_refs, samples },
        { labels_refs: [1, 2], samples },
      ]);
      assert.equal(response.status, 400, response.text);
      assert.deepEqual(written(response), [1, 0, 0]);
      assert.ok(errorOf(response).startsWith('1 of 2 samples were refused: '), response.text);
      assert.ok(errorOf(response).includes(message), response.text);
    }
  });

  it('bounds the size of labels, which references can repeat', async () => {
    const symbols = ['', '__name__', 'm', 'x'.repeat(60_000)];
    const samples = [{ value: 1, timestamp: TIME_MS }];
    const response = await write2(
      'long',
      [
        { labels_refs: [1, 2, ...Array.from({ length: 2000 }, () => 3)], samples },
        { labels_refs: [1, 2], samples },
      ],
      symbols,
    );
    assert.equal(response.status, 400, response.text);
    assert.match(errorOf(response), /the labels have more than 65536 bytes/);
    assert.deepEqual(await rows('long', 'SELECT count(*) AS n FROM m'), [{ n: 1 }]);
  });
});

describe('native histograms', () => {
  const stored = {
    histogram_count: 9,
    histogram_negative_deltas: '[4]',
    histogram_negative_spans: '[[3,1]]',
    histogram_positive_deltas: '[1,2,-3]',
    histogram_positive_spans: '[[0,2],[-1,1]]',
    histogram_schema: 1,
    histogram_sum: 18.4,
    histogram_zero_count: 2,
    histogram_zero_threshold: 0.001,
    job: 'a',
    time: '2024-12-30T09:00:00',
  };

  it('stores integer histograms of both versions as fields', async () => {
    const labels = [
      { name: '__name__', value: 'm' },
      { name: 'job', value: 'a' },
    ];
    const body = encodeMessage('WriteRequest', { timeseries: [{ labels, histograms: [INTEGER] }] });
    const one = await remoteWrite(server, body, { path: '/api/v1/write?db=integers1' });
    const two = await write2('integers2', [{ labels_refs: [1, 2, 3, 4], histograms: [INTEGER] }]);
    for (const [response, db] of [
      [one, 'integers1'],
      [two, 'integers2'],
    ] as const) {
      assert.equal(response.status, 204, response.text);
      assert.deepEqual(written(response), [0, 1, 0]);
      assert.deepEqual(await rows(db, 'SELECT * FROM m'), [stored]);
    }
  });

  it('stores float histograms with counts, custom buckets and no sum that is not a number', async () => {
    const float = {
      count_float: 2.5,
      sum: Number.NaN,
      schema: -53,
      zero_count_float: 0,
      positive_spans: [{ offset: 0, length: 2 }],
      positive_counts: [1, 1.5],
      custom_values: [0.5],
      timestamp: TIME_MS,
    };
    const response = await write2('floats', [
      {
        labels_refs: [1, 2, 3, 4],
        histograms: [float],
        samples: [{ value: 1, timestamp: TIME_MS + 1 }],
      },
    ]);
    assert.equal(response.status, 204, response.text);
    assert.deepEqual(written(response), [1, 1, 0]);
    assert.deepEqual(await rows('floats', 'SELECT * FROM m ORDER BY time'), [
      {
        histogram_count: 2.5,
        histogram_custom_values: '[0.5]',
        histogram_negative_counts: '[]',
        histogram_negative_spans: '[]',
        histogram_positive_counts: '[1,1.5]',
        histogram_positive_spans: '[[0,2]]',
        histogram_schema: -53,
        histogram_zero_count: 0,
        histogram_zero_threshold: 0,
        job: 'a',
        time: '2024-12-30T09:00:00',
      },
      { job: 'a', time: '2024-12-30T09:00:00.001', value: 1 },
    ]);
  });

  it('counts histograms that the schema refuses', async () => {
    const lines = 'm histogram_sum="text" 1';
    await server.http.send('/api/v3/write_lp?db=conflict', { body: lines });
    const response = await write2('conflict', [
      {
        labels_refs: [1, 2],
        histograms: [INTEGER],
        samples: [{ value: 1, timestamp: TIME_MS }],
      },
    ]);
    assert.equal(response.status, 400, response.text);
    assert.deepEqual(written(response), [1, 0, 0]);
    assert.match(errorOf(response), /^1 of 2 samples were refused: m: .*histogram_sum/);
  });
});

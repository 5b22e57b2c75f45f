import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tagSetsOf } from '@plinth/tsdb-model/series/new-series.js';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { BodyParser } from '../body-parser.js';
import { DEFAULT_LIMITS, ParserDictionary } from '../parser-dictionary.js';
import { ParsedRows, packed } from '../testing/parsed-rows.js';
import { MetricsParser } from './metrics-parser.js';

/** Source: OpenTelemetry, `metrics/v1/metrics.proto`, `common/v1/common.proto`. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message Request { repeated ResourceMetrics resourceMetrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scopeMetrics = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof v { string stringValue = 1; int64 intValue = 3; ArrayValue arrayValue = 5; } }
  message ArrayValue { repeated AnyValue values = 1; }
  message Metric { string name = 1; oneof data { Gauge gauge = 5; Histogram histogram = 9;
    Exponential exponentialHistogram = 10; Summary summary = 11; } }
  message Gauge { repeated Point dataPoints = 1; }
  message Point { repeated KeyValue attributes = 7; fixed64 timeUnixNano = 3; double asDouble = 4; uint32 flags = 8; }
  message Histogram { repeated HistogramPoint dataPoints = 1; uint32 aggregationTemporality = 2; }
  message HistogramPoint { fixed64 timeUnixNano = 3; fixed64 count = 4; double sum = 5;
    repeated fixed64 bucketCounts = 6; repeated double explicitBounds = 7; }
  message Exponential { repeated ExponentialPoint dataPoints = 1; uint32 aggregationTemporality = 2; }
  message ExponentialPoint { fixed64 timeUnixNano = 3; fixed64 count = 4; sint32 scale = 6; Buckets positive = 8; }
  message Buckets { sint32 offset = 1; repeated uint64 bucketCounts = 2; }
  message Summary { repeated SummaryPoint dataPoints = 1; }
  message SummaryPoint { fixed64 timeUnixNano = 3; fixed64 count = 4; repeated Quantile quantileValues = 6; }
  message Quantile { double quantile = 1; double value = 2; }`,
);
const REQUEST = root.lookupType('Request');
const encode = (request: object): Uint8Array =>
  REQUEST.encode(REQUEST.fromObject(request)).finish();

const OPTIONS = { database: 'd', precision: 'nanosecond', receivedNs: 0n } as const;
const parse = (
  parser: BodyParser,
  body: Uint8Array,
  format: 'otlp_metrics' | 'otlp_metrics_json',
) => parser.parse(body, { ...OPTIONS, format });
const newParser = (limits = DEFAULT_LIMITS) => new BodyParser(limits, 7);

type Attributes = Readonly<Record<string, string>>;
const keyValues = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
interface Gauge {
  readonly name: string;
  readonly attributes: Attributes;
  readonly value: number;
  readonly timeNs: bigint;
}
const request = (resource: Attributes, gauges: readonly Gauge[]): object => ({
  resourceMetrics: [
    {
      resource: { attributes: keyValues(resource) },
      scopeMetrics: [
        {
          metrics: gauges.map(({ name, attributes, value, timeNs }) => ({
            name,
            gauge: {
              dataPoints: [
                {
                  attributes: keyValues(attributes),
                  asDouble: value,
                  timeUnixNano: String(timeNs),
                },
              ],
            },
          })),
        },
      ],
    },
  ],
});

const attributes = fc.dictionary(
  fc.constantFrom('a', 'b', 'job', 'näme', '__name__'),
  fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }),
);
const gauge: fc.Arbitrary<Gauge> = fc.record({
  name: fc.constantFrom('m', 'cpu.usage'),
  attributes,
  value: fc.double({ noNaN: true }),
  timeNs: fc.bigInt({ min: 1n, max: 2n ** 63n - 2n }),
});

describe('MetricsParser', () => {
  it('parses what a Protocol Buffers library encodes, in bodies one after the other', () => {
    const body = fc.tuple(attributes, fc.array(gauge, { maxLength: 6 }));
    const formats = fc.constantFrom('otlp_metrics', 'otlp_metrics_json');
    fc.assert(
      fc.property(fc.array(body, { maxLength: 3 }), formats, (bodies, format) => {
        const parser = newParser();
        const reader = new ParsedRows();
        for (const [resource, gauges] of bodies) {
          const given = request(resource, gauges);
          const bytes = format === 'otlp_metrics' ? encode(given) : Buffer.from(jsonOf(given));
          const parsed = parse(parser, bytes, format);
          assert.deepEqual(parsed.refused, []);
          const expected = gauges.map(({ name, attributes, value, timeNs }) => {
            const tags = packed({ ...resource, ...attributes });
            return `${name} ${tags} gauge=${value} ${timeNs}`;
          });
          assert.deepEqual(reader.read(parsed).toSorted(), expected.toSorted());
          assert.equal(parsed.lineCount, expected.length);
        }
      }),
    );
  });

  it('returns the tags of a series to a catalog that does not know it', () => {
    const parser = new MetricsParser(new ParserDictionary(DEFAULT_LIMITS, 7));
    const one = { name: 'm', attributes: { a: '2', time: 'x' }, value: 1, timeNs: 1n };
    const body = encode(request({ a: '1', b: '1' }, [one]));
    const { tables } = parser.parse(body, { database: 'd', format: 'otlp_metrics' });
    const [tags] = tagSetsOf(tables[0]?.newSeries);
    assert.deepEqual(tags?.tagKeys, ['a', 'b', 'time_tag']);
    assert.deepEqual(tags?.tagValues, ['2', '1', 'x']);
  });

  it('reads fields in any order', () => {
    const one = { name: 'm', attributes: { a: '1' }, value: 2, timeNs: 3n };
    const body = encode(request({ r: '1' }, [one]));
    const message = REQUEST.decode(body).toJSON()['resourceMetrics'][0];
    const field = (number: number, bytes: Uint8Array) =>
      Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
    const part = (type: string, value: object) =>
      root.lookupType(type).encode(root.lookupType(type).fromObject(value)).finish();
    const [metric] = message.scopeMetrics[0].metrics;
    const reversed = field(
      1,
      Buffer.concat([
        field(
          2,
          field(
            2,
            Buffer.concat([field(5, part('Gauge', metric.gauge)), field(1, Buffer.from('m'))]),
          ),
        ),
        field(1, part('Resource', message.resource)),
      ]),
    );
    const parsed = parse(newParser(), reversed, 'otlp_metrics');
    assert.deepEqual(new ParsedRows().read(parsed), [`m ${packed({ a: '1', r: '1' })} gauge=2 3`]);
  });

  it('bounds the depth of attributes', () => {
    const nested = (depth: number): object =>
      depth === 0 ? { intValue: 1 } : { arrayValue: { values: [nested(depth - 1)] } };
    const withValue = (value: object) => {
      const given = request({}, [{ name: 'm', attributes: {}, value: 1, timeNs: 1n }]) as {
        resourceMetrics: [{ resource: object }];
      };
      given.resourceMetrics[0].resource = { attributes: [{ key: 'a', value }] };
      return parse(newParser(), encode(given), 'otlp_metrics');
    };
    const { tables } = withValue(nested(32));
    assert.equal(tables.length, 1);
    const { invalid } = withValue(nested(33));
    assert.equal(invalid, 'an attribute is nested deeper than 32 levels');
  });

  it('stores attributes of every size up to the limit of a series', () => {
    for (const size of [1, 126, 127, 128, 16_382, 16_384, 65_000]) {
      const attributes = { a: 'x'.repeat(size) };
      const body = encode(request({}, [{ name: 'm', attributes, value: 1, timeNs: 1n }]));
      const parsed = parse(newParser(), body, 'otlp_metrics');
      assert.deepEqual(new ParsedRows().read(parsed), [`m ${packed(attributes)} gauge=1 1`]);
    }
    const attributes = { a: 'x'.repeat(65_536) };
    const body = encode(request({}, [{ name: 'm', attributes, value: 1, timeNs: 1n }]));
    const { refused } = parse(newParser(), body, 'otlp_metrics');
    assert.deepEqual(
      refused.map(({ message }) => message),
      ['the attributes have more than 65536 bytes'],
    );
  });

  it('refuses many points with long attributes in little time', () => {
    const attributes = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, 'x']));
    const point = { name: 'm', attributes: {}, value: 1, timeNs: 0n };
    const body = encode(request(attributes, Array(50_000).fill(point)));
    const startedMs = performance.now();
    const parsed = parse(newParser(), body, 'otlp_metrics');
    assert.equal(parsed.refusedCount, 50_000);
    assert.match(parsed.refused[0]?.originalLine ?? '', /^m\{a0="x", a1="x"/);
    // Formatting the attributes of every point takes over a minute.
    assert.ok(performance.now() - startedMs < 15_000);
  });

  it('bounds the attributes of all points of a body', () => {
    const point = { name: 'm', attributes: {}, value: 1, timeNs: 1n };
    const written = (count: number) => {
      const body = encode(request({ a: 'x'.repeat(65_000) }, Array(count).fill(point)));
      return parse(newParser(), body, 'otlp_metrics');
    };
    // A key has 65,020 bytes: its mark, and the labels `a` and the metric.
    const fitting = Math.floor((256 * 1024 * 1024) / 65_020);
    assert.equal(written(fitting).refusedCount, 0);
    const { refused } = written(fitting + 1);
    assert.deepEqual(
      refused.map(({ message, reason }) => [message, reason === 'limit']),
      [['the attributes of the request exceed 256 MiB in total; send smaller requests', true]],
    );
  });

  it('bounds the memory of a body', () => {
    const gauges = Array.from({ length: 200 }, (_, i) => ({
      ...{ name: `m${i}`, attributes: {}, value: 1, timeNs: 1n },
    }));
    const limits = { ...DEFAULT_LIMITS, maxCells: 100_000 };
    const parsed = parse(newParser(limits), encode(request({}, gauges)), 'otlp_metrics');
    assert.ok(parsed.refusedCount > 0);
    assert.ok(parsed.refused.every(({ reason }) => reason === 'limit'));
    assert.equal(new ParsedRows().read(parsed).length + parsed.refusedCount, 200);
  });

  it('refuses metric names and attributes that are not valid UTF-8 by point', () => {
    const gauges = ['XY', 'm'].map((name) => ({
      ...{ name, attributes: {}, value: 1, timeNs: 1n },
    }));
    const bytes = encode(request({}, gauges));
    bytes[Buffer.from(bytes).indexOf('XY')] = 0xff;
    const parsed = parse(newParser(), bytes, 'otlp_metrics');
    assert.deepEqual(
      parsed.refused.map(({ message }) => message),
      ['the metric name is not valid UTF-8'],
    );
    assert.equal(new ParsedRows().read(parsed).length, 1);
  });

  it('names the problem of JSON that exceeds a limit', () => {
    const depth = 200;
    const nested = `{"resourceMetrics":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const reasonOf = (text: string) =>
      parse(newParser(), Buffer.from(text), 'otlp_metrics_json').invalid;
    assert.equal(reasonOf(nested), 'nested deeper than 127 levels');
    assert.equal(reasonOf('{'), 'the body is not valid JSON');
  });

  it('ends on random, changed and cut bytes of every kind of point', () => {
    const timeUnixNano = '5';
    const metrics = [
      { name: 'g', gauge: { dataPoints: [{ timeUnixNano, asDouble: 1 }, { flags: 1 }] } },
      {
        name: 'h',
        histogram: {
          dataPoints: [
            { timeUnixNano, count: 3, sum: 1, bucketCounts: [1, 2], explicitBounds: [0.5] },
          ],
          aggregationTemporality: 2,
        },
      },
      {
        name: 'e',
        exponentialHistogram: {
          dataPoints: [
            { timeUnixNano, count: 1, scale: -1, positive: { offset: -3, bucketCounts: [1, 900] } },
          ],
          aggregationTemporality: 1,
        },
      },
      {
        name: 's',
        summary: {
          dataPoints: [{ timeUnixNano, count: 1, quantileValues: [{ quantile: 0.5, value: 2 }] }],
        },
      },
    ];
    const given = {
      resourceMetrics: [
        { resource: { attributes: keyValues({ a: 'b' }) }, scopeMetrics: [{ metrics }] },
      ],
    };
    const bodies = { otlp_metrics: encode(given), otlp_metrics_json: Buffer.from(jsonOf(given)) };
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    const hostile = fc
      .tuple(
        fc.constantFrom('otlp_metrics', 'otlp_metrics_json'),
        fc.array(change, { maxLength: 4 }),
        fc.option(fc.uint8Array({ maxLength: 200 })),
        fc.option(fc.nat(400)),
      )
      .map(([format, changes, random, end]) => {
        const body = Uint8Array.from(random ?? bodies[format].subarray(0, end ?? undefined));
        for (const [at, byte] of changes) if (body.length > 0) body[at % body.length] = byte;
        return { format, body };
      });
    const parser = newParser();
    let valid = 0;
    let invalid = 0;
    fc.assert(
      fc.property(hostile, ({ format, body }) => {
        const parsed = parse(parser, body, format);
        const rowCount = parsed.tables.reduce((sum, table) => sum + table.rowCount, 0);
        if (parsed.invalid !== undefined) assert.equal(rowCount, 0);
        else assert.equal(rowCount + parsed.refusedCount, parsed.lineCount);
        valid += rowCount;
        invalid += parsed.invalid === undefined ? 0 : 1;
      }),
      { numRuns: 10_000 },
    );
    assert.ok(valid > 100 && invalid > 100, `${valid} rows, ${invalid} invalid bodies`);
  });
});

/** `-0` and infinities, which JSON does not have, in the form of Protocol Buffers. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, item) =>
    typeof item === 'number' && (Object.is(item, -0) || !Number.isFinite(item))
      ? Object.is(item, -0)
        ? '-0'
        : String(item)
      : item,
  );

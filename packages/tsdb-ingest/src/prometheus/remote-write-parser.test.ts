import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { BodyParser } from '../body-parser.js';
import { DEFAULT_LIMITS } from '../parser-dictionary.js';
import { ParsedRows, packed as packedTags } from '../testing/parsed-rows.js';

/** Source: Prometheus, `prompb/types.proto`, `prompb/remote.proto`. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message WriteRequest { repeated TimeSeries timeseries = 1; }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; repeated Histogram histograms = 4; }
  message Request2 { repeated string symbols = 4; repeated TimeSeries2 timeseries = 5; }
  message TimeSeries2 { repeated uint32 labels_refs = 1; repeated Sample samples = 2; repeated Histogram histograms = 3; }
  message Histogram {
    uint64 count_int = 1; double sum = 3; sint32 schema = 4; repeated BucketSpan positive_spans = 11;
    repeated sint64 positive_deltas = 12; int64 timestamp = 15;
  }
  message BucketSpan { sint32 offset = 1; uint32 length = 2; }
  message Label { string name = 1; string value = 2; }
  message Sample { double value = 1; int64 timestamp = 2; }`,
);
const REQUEST = root.lookupType('WriteRequest');
const encodeAs = (name: string, message: object): Uint8Array =>
  root.lookupType(name).encode(root.lookupType(name).fromObject(message)).finish();

type Pairs = readonly (readonly [string, string])[];
interface Series {
  readonly labels: Pairs;
  readonly samples: readonly (readonly [number, number])[];
}

const encode = (series: readonly Series[]): Uint8Array =>
  REQUEST.encode(
    REQUEST.fromObject({
      timeseries: series.map(({ labels, samples }) => ({
        labels: labels.map(([name, value]) => ({ name, value })),
        samples: samples.map(([value, timestamp]) => ({ value, timestamp })),
      })),
    }),
  ).finish();

const newParser = (limits = DEFAULT_LIMITS) => new BodyParser(limits, 7);
const OPTIONS = { database: 'd', precision: 'nanosecond', receivedNs: 0n } as const;
const parse = (parser: BodyParser, body: Uint8Array): ParsedBody =>
  parser.parse(body, { ...OPTIONS, format: 'remote_write' });

/** The name of the metric is the table. */
const packed = (labels: Pairs): string =>
  packedTags(Object.fromEntries(labels.filter(([name]) => name !== '__name__')));

describe('RemoteWriteParser', () => {
  it('parses what a Protocol Buffers library encodes, in bodies one after the other', () => {
    const label = fc.tuple(fc.constantFrom('a', 'b', 'job', 'näme'), fc.string({ maxLength: 5 }));
    const labels = fc
      .tuple(fc.constantFrom('m', 'up'), fc.uniqueArray(label, { selector: ([name]) => name }))
      .map(([name, rest]): Pairs => [['__name__', name], ...rest]);
    const sample = fc.tuple(
      fc.double({ noNaN: true }),
      fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 }),
    );
    const series = fc.record({ labels, samples: fc.array(sample, { maxLength: 3 }) });
    const bodies = fc.array(fc.array(series, { maxLength: 6 }), { maxLength: 3 });
    fc.assert(
      fc.property(bodies, (given) => {
        const parser = newParser();
        const reader = new ParsedRows();
        for (const body of given) {
          const parsed = parse(parser, encode(body));
          assert.deepEqual(parsed.refused, []);
          const expected = body.flatMap(({ labels, samples }) =>
            samples.map(
              ([value, ms]) =>
                `${labels[0]?.[1]} ${packed(labels)} value=${value} ${BigInt(ms) * 1_000_000n}`,
            ),
          );
          assert.deepEqual(reader.read(parsed).toSorted(), expected.toSorted());
          assert.equal(parsed.lineCount, expected.length);
        }
      }),
    );
  });

  it('shares tables with line protocol, and keeps the series of both apart', () => {
    const parser = newParser();
    const reader = new ParsedRows();
    const lines = Buffer.from('up,job=a value=1 1000000\n');
    const body = encode([
      {
        labels: [
          ['__name__', 'up'],
          ['job', 'a'],
        ],
        samples: [[2, 2]],
      },
    ]);
    const tags = packed([['job', 'a']]);
    const line = parser.parse(lines, OPTIONS);
    assert.deepEqual(reader.read(line), [`up ${tags} value=1 1000000`]);
    const sample = parse(parser, body);
    assert.deepEqual(reader.read(sample), [`up ${tags} value=2 2000000`]);
    assert.equal(sample.tables[0]?.parserTable, line.tables[0]?.parserTable);
  });

  it('reads labels that follow samples', () => {
    const body = encode([
      {
        labels: [
          ['__name__', 'm'],
          ['a', '1'],
        ],
        samples: [[1, 5]],
      },
    ]);
    const series = REQUEST.decode(body).toJSON()['timeseries'] as unknown[];
    assert.equal(series.length, 1);
    // The same fields in the order label, sample, label: valid in Protocol Buffers.
    const label = (name: string, value: string) => {
      const inner = [
        0x0a,
        name.length,
        ...Buffer.from(name),
        0x12,
        value.length,
        ...Buffer.from(value),
      ];
      return [0x0a, inner.length, ...inner];
    };
    const sample = [0x12, 11, 0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 5];
    const inner = [...label('__name__', 'm'), ...sample, ...label('a', '1')];
    const mixed = parse(newParser(), Uint8Array.from([0x0a, inner.length, ...inner]));
    assert.deepEqual(new ParsedRows().read(mixed), [`m ${packed([['a', '1']])} value=1 5000000`]);
  });

  it('refuses a body with invalid bytes, and keeps the series that it had numbered', () => {
    const parser = newParser();
    const reader = new ParsedRows();
    const body = encode([
      {
        labels: [
          ['__name__', 'm'],
          ['a', '1'],
        ],
        samples: [[1, 5]],
      },
    ]);
    const cut = parse(parser, Buffer.concat([body, Buffer.from([0x0a, 9])]));
    assert.match(cut.invalid ?? '', /a length of 9 bytes exceeds its message, at byte \d+/);
    assert.deepEqual(reader.read(cut), []);
    assert.deepEqual(reader.read(parse(parser, body)), [
      `m ${packed([['a', '1']])} value=1 5000000`,
    ]);
  });

  it('refuses labels that are not valid UTF-8 by series', () => {
    const good: Series = { labels: [['__name__', 'm']], samples: [[1, 1]] };
    const bytes = encode([
      {
        labels: [
          ['__name__', 'm'],
          ['a', 'XY'],
        ],
        samples: [[1, 1]],
      },
      good,
    ]);
    const at = Buffer.from(bytes).indexOf('XY');
    bytes[at] = 0xff;
    const parsed = parse(newParser(), bytes);
    assert.deepEqual(
      parsed.refused.map(({ message }) => message),
      ['the value of label "a" is not valid UTF-8'],
    );
    assert.equal(new ParsedRows().read(parsed).length, 1);
  });

  it('bounds the memory of a body', () => {
    const series = Array.from(
      { length: 200 },
      (_, i): Series => ({
        labels: [['__name__', `m${i}`]],
        samples: [[1, 1]],
      }),
    );
    const limits = { ...DEFAULT_LIMITS, maxCells: 100_000 };
    const parsed = parse(newParser(limits), encode(series));
    assert.ok(parsed.refusedCount > 0);
    assert.ok(parsed.refused.every(({ reason }) => reason === 'limit'));
    assert.equal(new ParsedRows().read(parsed).length + parsed.refusedCount, 200);
  });

  it('ends on random bytes and on changed requests of both versions', () => {
    const parser = newParser();
    const histogram = {
      ...{ countInt: 3, sum: 1.5, schema: 1, timestamp: 5 },
      ...{ positiveSpans: [{ offset: -1, length: 2 }], positiveDeltas: [1, -1] },
    };
    const rows = { samples: [{ value: 1, timestamp: 1 }], histograms: [histogram] };
    const one = { labels: [{ name: '__name__', value: 'm' }], ...rows };
    const two = { labelsRefs: [1, 2, 3, 2], ...rows };
    const bodies = {
      remote_write: encodeAs('WriteRequest', { timeseries: [one, one] }),
      remote_write_2: encodeAs('Request2', {
        symbols: ['', '__name__', 'm', 'a'],
        timeseries: [two, two],
      }),
    };
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    const given = fc
      .tuple(
        fc.constantFrom('remote_write', 'remote_write_2'),
        fc.array(change, { maxLength: 4 }),
        fc.option(fc.uint8Array({ maxLength: 200 })),
      )
      .map(([format, changes, random]) => {
        const body = Uint8Array.from(random ?? bodies[format]);
        for (const [at, byte] of changes) if (body.length > 0) body[at % body.length] = byte;
        return { format, body };
      });
    let valid = 0;
    fc.assert(
      fc.property(given, ({ format, body }) => {
        const parsed = parser.parse(body, { ...OPTIONS, format });
        const rowCount = parsed.tables.reduce((sum, table) => sum + table.rowCount, 0);
        if (parsed.invalid !== undefined) assert.equal(rowCount, 0);
        else assert.equal(rowCount + parsed.refusedCount, parsed.lineCount);
        valid += rowCount;
      }),
      { numRuns: 10_000 },
    );
    assert.ok(valid > 0);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParsedBody, ParsedTable, Precision } from '@plinth/tsdb-model/parsed-body.js';
import fc from 'fast-check';
import { LineProtocolParser } from './line-protocol-parser.js';
import { findLineEnd } from './line-splitter.js';
import { LineRefused } from './slow-path/line-refused.js';
import { parseLineOnSlowPath } from './slow-path/parse-line.js';
import { ParsedTagSets } from './testing/parsed-tag-sets.js';
import { toNanoseconds } from './time-scale.js';

const RECEIVED_NS = 1_735_549_200_123_456_789n;

/** Result of one line: its content, or the message of its rejection. */
type Outcome = Readonly<Record<string, unknown>>;

/** Results by line number, from the slow path only. */
function referenceOutcomes(body: Buffer, precision: Precision): Map<number, Outcome> {
  const outcomes = new Map<number, Outcome>();
  for (let at = 0, lineNumber = 1; at < body.length; ) {
    let start = at;
    while (body[start] === 32 || body[start] === 9) start++;
    const lineEnd = body.subarray(start).indexOf(10);
    const plainEnd = lineEnd < 0 ? body.length : start + lineEnd;
    const plain = body.toString('utf8', start, plainEnd);
    const isIgnored = plain.startsWith('#') || plain === '' || plain === '\r';
    const end = isIgnored ? plainEnd : findLineEnd(body, start, body.length);
    if (!isIgnored) {
      const isCrlf = body[end - 1] === 13;
      outcomes.set(lineNumber, referenceOutcome(body, start, isCrlf ? end - 1 : end, precision));
    }
    lineNumber += body.toString('utf8', at, end).split('\n').length;
    at = end + 1;
  }
  return outcomes;
}

function referenceOutcome(body: Buffer, start: number, end: number, precision: Precision): Outcome {
  try {
    const { series, fields, timestamp } = parseLineOnSlowPath(body, { start, end });
    const time = timestamp === undefined ? 'arrival' : toNanoseconds(timestamp, precision);
    const values = fields.map(({ name, value }) => {
      const plain = value.type === 'utf8' ? Buffer.from(value.value).toString() : value.value;
      return [name, value.type, plain];
    });
    return { ...series, time, fields: sorted(values) };
  } catch (error) {
    if (!(error instanceof LineRefused)) throw error;
    return { message: error.message };
  }
}

function outcomesOf(tagSets: ParsedTagSets, body: ParsedBody, arrivalNs: bigint) {
  const outcomes = new Map<number, Outcome>();
  for (const { lineNumber, message } of body.refused) outcomes.set(lineNumber, { message });
  for (const table of body.tables) {
    for (let row = 0; row < table.rowCount; row++) {
      const series = tagSets.of(table.parserTable, table.seriesNumbers[row]);
      const timeNs = table.times[row];
      outcomes.set(table.lineNumbers[row] ?? -1, {
        table: table.table,
        ...series,
        time: timeNs === arrivalNs ? 'arrival' : timeNs,
        fields: sorted(valuesOf(table, row)),
      });
    }
  }
  return outcomes;
}

function valuesOf(table: ParsedTable, row: number): unknown[][] {
  return table.fields.flatMap(({ name, data, validity }) => {
    if (validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0) return [];
    if (data.type === 'utf8') {
      const text = data.bytes.subarray(data.offsets[row], data.offsets[row + 1]);
      return [[name, data.type, Buffer.from(text).toString()]];
    }
    return [[name, data.type, data.type === 'bool' ? data.values[row] === 1 : data.values[row]]];
  });
}

const sorted = (values: unknown[][]) =>
  values.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
const inOrder = (outcomes: Map<number, Outcome>) => [...outcomes].sort((a, b) => a[0] - b[0]);

/**
 * Parses a body twice: the second time, its names are known and the fast path is used where
 * possible.
 */
function assertSameAsReference(text: string, precision: Precision): void {
  const body = Buffer.from(text);
  const parser = new LineProtocolParser();
  const options = { database: 'db', precision, receivedNs: RECEIVED_NS } as const;
  const tagSets = new ParsedTagSets();
  const initial = parser.parse(Buffer.from('m f=1'), options);
  tagSets.add(initial);
  const arrivalNs = initial.tables[0]?.times[0] ?? 0n;
  const expected = inOrder(referenceOutcomes(body, precision));
  for (const pass of ['first', 'second']) {
    const parsed = parser.parse(body, options);
    tagSets.add(parsed);
    const label = `${pass} pass of ${JSON.stringify(text)}`;
    assert.deepEqual(inOrder(outcomesOf(tagSets, parsed, arrivalNs)), expected, label);
    assert.equal(parsed.lineCount, expected.length, label);
  }
}

const precisions = fc.constantFrom<Precision>(
  'auto',
  'nanosecond',
  'microsecond',
  'millisecond',
  'second',
  'minute',
  'hour',
);
const tableName = fc.constantFrom('m', 'cpu', 'a\\ b', 'x=y', 'größe', 'm\\\nn', '"q"');
const name = fc.constantFrom(
  'a',
  'b',
  'host',
  'usage_user',
  'k\\=1',
  'x\\,y',
  'é',
  'a,b',
  'q"',
  'long_name_of_field',
);
const tagValue = fc.constantFrom(
  '1',
  'x',
  'us-west-2',
  'a\\ b',
  'a=b',
  '"v"',
  'ü',
  'n\\\nl',
  '\\x',
);
const digits = fc.bigInt({ min: 0n, max: 10n ** 21n }).map(String);
const number = fc.oneof(
  fc.nat(200).map(String),
  digits,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => String(x).replace('+', '')),
  fc
    .tuple(digits, digits, fc.integer({ min: -330, max: 330 }))
    .map(([a, b, e]) => `${a}.${b}e${e}`),
  fc.tuple(fc.nat(999), fc.nat(99_999)).map(([a, b]) => `${a}.${b}`),
);
const value = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '', '-'), number, fc.constantFrom('', 'i', 'u'))
    .map((parts) => parts.join('')),
  fc.constantFrom('t', 'T', 'true', 'True', 'TRUE', 'f', 'F', 'false', 'False', 'FALSE'),
  fc.constantFrom(
    '""',
    '"a b"',
    '"a,b=c"',
    '"q\\"q"',
    '"n\nl"',
    '"back\\\\"',
    '"\\x"',
    '"ü"',
    '"open',
    'hi',
    '',
  ),
);
const pair = (value: fc.Arbitrary<string>) => fc.tuple(name, value).map(([k, v]) => `${k}=${v}`);
const list = (item: fc.Arbitrary<string>, minLength: number) =>
  fc.array(item, { minLength, maxLength: 4 }).map((items) => items.join(','));
const timestamp = fc.oneof(
  fc.constant(''),
  fc.tuple(fc.constantFrom('', '-'), digits).map((parts) => ` ${parts.join('')}`),
  fc.constantFrom(
    ' 1735689600',
    ' 1735689600000',
    ' 1735689600000000000',
    ' 9223372036854775807',
    ' ',
    ' x',
  ),
);
const tags = fc.oneof(
  fc.constant(''),
  list(pair(tagValue), 1).map((text) => `,${text}`),
);
const line = fc
  .tuple(tableName, tags, list(pair(value), 1), timestamp)
  .map(([m, t, f, at]) => `${m}${t} ${f}${at}`);
const lineBreak = fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', ' \n', '\n# c "\n', '\n \t');
const bodyText = fc
  .tuple(fc.array(fc.tuple(line, lineBreak), { maxLength: 8 }), fc.oneof(line, fc.constant('')))
  .map(([lines, last]) => lines.flat().join('') + last);
const mutations = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.constantFrom(...' ,="\\\n\t\r#0eiu.-+tf\0é', ''),
    cut: fc.nat(2),
  }),
  { maxLength: 4 },
);

function mutate(text: string, steps: readonly { at: number; text: string; cut: number }[]): string {
  return steps.reduce((out, step) => {
    const at = Math.floor(step.at * out.length);
    return out.slice(0, at) + step.text + out.slice(at + step.cut);
  }, text);
}

describe('the fast path', () => {
  it('parses valid and nearly valid bodies like the reference', () => {
    fc.assert(
      fc.property(bodyText, mutations, precisions, (text, steps, precision) =>
        assertSameAsReference(mutate(text, steps), precision),
      ),
      { numRuns: caseCount(3000) },
    );
  });

  it('accepts any bytes, and every line is a row or a rejection', () => {
    const parser = new LineProtocolParser();
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .string({ unit: fc.constantFrom(...'m ,="\\\n\t\r#01i.t'), maxLength: 60 })
        .map((text) => Buffer.from(text)),
    );
    const property = fc.property(bytes, (body) => {
      try {
        const parsed = parser.parse(body, {
          database: 'db',
          precision: 'auto',
          receivedNs: RECEIVED_NS,
        });
        const rowCount = parsed.tables.reduce((sum, table) => sum + table.rowCount, 0);
        assert.equal(rowCount + parsed.refusedCount, parsed.lineCount);
      } catch (error) {
        assert.ok(tsdbError.is(error, 'body_not_utf8'));
      }
    });
    fc.assert(property, { numRuns: caseCount(5000) });
  });
});

describe('numbers', () => {
  const parser = new LineProtocolParser();
  const options = { database: 'db', precision: 'nanosecond', receivedNs: RECEIVED_NS } as const;
  const read = (text: string) => {
    const fields = parser.parse(Buffer.from(`m f=${text} 1\n`), options).tables[0]?.fields;
    return fields?.[0]?.data.type === 'utf8' ? undefined : fields?.[0]?.data.values[0];
  };

  it('round-trip every float exactly', () => {
    const spellings = [String, (x: number) => x.toExponential(), (x: number) => x.toPrecision(17)];
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        // String(-0) is '0', so the sign is checked with an explicit minus.
        for (const spell of spellings) assert.ok(read(spell(x)) === x, spell(x));
        assert.ok(Object.is(read(x < 0 || Object.is(x, -0) ? `-${-x}` : String(x)), x));
      }),
      { numRuns: caseCount(2000) },
    );
  });

  it('are rounded to nearest in every notation', () => {
    const text = fc.stringMatching(/^-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?$/);
    fc.assert(
      fc.property(text, (spelled) => assert.ok(Object.is(read(spelled), Number(spelled)), spelled)),
      {
        numRuns: caseCount(3000),
      },
    );
  });

  it('round-trip every 64-bit integer', () => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    const edges = [0, 9, 10, 15, 16, 18].flatMap((n) => [10n ** BigInt(n) - 1n, 10n ** BigInt(n)]);
    const powers = [31, 32, 53, 63].flatMap((n) => [-1n, 0n, 1n].map((d) => 2n ** BigInt(n) + d));
    for (const size of [...edges, ...powers]) {
      for (const x of [size, -size]) if (x >= min && x <= max) assert.equal(read(`${x}i`), x);
      assert.equal(read(`${size}u`), size);
    }
    fc.assert(fc.property(fc.bigInt({ min, max }), (x) => assert.equal(read(`${x}i`), x)));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (x) =>
        assert.equal(read(`${x}u`), x),
      ),
    );
  });
});

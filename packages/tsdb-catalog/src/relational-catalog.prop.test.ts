import assert from 'node:assert/strict';
import { it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { LineProtocolParser } from '@plinth/tsdb-ingest/line-protocol-parser.js';
import { ParsedTagSets } from '@plinth/tsdb-ingest/testing/parsed-tag-sets.js';
import type { ColumnKind, FieldType } from '@plinth/tsdb-model/columns/column.js';
import { MESSAGE_TYPE } from '@plinth/tsdb-model/columns/column.js';
import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import fc from 'fast-check';
import type { ValidationResult } from './catalog.js';
import type { RelationalCatalog } from './relational-catalog.js';
import { openTestCatalog } from './testing/open-test-catalog.js';

const LIMITS = { databaseCount: 9, tableCount: 3, columnCountPerTable: 5, tagCountPerTable: 3 };

interface Line {
  readonly table: string;
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
}

interface Request {
  readonly database: string;
  readonly allOrNothing: boolean;
  readonly lines: readonly Line[];
}

/** Reference implementation of the schema rules, line by line. Columns of a table by its name. */
type Model = Map<string, Map<string, ColumnKind>>;

function takeLine(model: Model, database: string, line: Line): string | undefined {
  const key = `${database}.${line.table}`;
  const table = model.get(key);
  if (table === undefined && model.size >= LIMITS.tableCount) {
    return `Update to schema would exceed number of tables limit: attempted to create table but already have ${model.size} table(s) (limit: ${LIMITS.tableCount})`;
  }
  const next = new Map(table);
  const wanted: [string, ColumnKind][] = [
    ...line.tags.map((name): [string, ColumnKind] => [name, 'tag']),
    ...line.fields.map(({ name, type }): [string, ColumnKind] => [name, type]),
  ];
  for (const [name, kind] of wanted) {
    const had = table !== undefined && name === 'time' ? 'time' : next.get(name);
    if (had === kind) continue;
    if (had !== undefined) {
      return `invalid column type for column '${name}', expected ${MESSAGE_TYPE[had]}, got ${MESSAGE_TYPE[kind]}`;
    }
    if (name === 'time') return "'time' is a reserved column";
    if (next.size >= LIMITS.columnCountPerTable) {
      return `Update to schema would exceed number of columns per table limit of ${LIMITS.columnCountPerTable} columns`;
    }
    const tagCount = [...next.values()].filter((other) => other === 'tag').length;
    if (kind === 'tag' && tagCount >= LIMITS.tagCountPerTable) {
      return `Update to schema would exceed number of tag columns per table limit of ${LIMITS.tagCountPerTable} columns`;
    }
    next.set(name, kind);
  }
  model.set(key, next);
  return undefined;
}

/** @returns the rejections by line number. */
function takeRequest(model: Model, request: Request): [number, string][] {
  const trial = new Map(model);
  const refusals = request.lines.flatMap((line, index): [number, string][] => {
    const message = takeLine(trial, request.database, line);
    return message === undefined ? [] : [[index + 1, message]];
  });
  if (!request.allOrNothing || refusals.length === 0) {
    for (const [key, table] of trial) model.set(key, table);
  }
  return refusals;
}

const VALUES: Record<FieldType, string> = {
  float64: '1.5',
  int64: '1i',
  uint64: '1u',
  utf8: '"x"',
  bool: 't',
};

function lineText(line: Line): string {
  const series = [line.table, ...line.tags.map((tag) => `${tag}=v`)].join(',');
  return `${series} ${line.fields.map(({ name, type }) => `${name}=${VALUES[type]}`).join(',')} 1`;
}

function parse(parser: LineProtocolParser, request: Request): ParsedBody {
  return parser.parse(Buffer.from(request.lines.map(lineText).join('\n')), {
    database: request.database,
    precision: 'nanosecond',
    receivedNs: 0n,
  });
}

/**
 * A parsed table does not keep the field order of each line, only the order of first appearance in
 * the request. If a line contains several errors, the first error in that order is reported.
 */
function inParsedOrder(request: Request, body: ParsedBody): Request {
  const lines = request.lines.map((line) => {
    const fields = body.tables.find((table) => table.table === line.table)?.fields ?? [];
    const place = (field: Line['fields'][number]) =>
      fields.findIndex((other) => other.name === field.name && other.data.type === field.type);
    return { ...line, fields: line.fields.toSorted((a, b) => place(a) - place(b)) };
  });
  return { ...request, lines };
}

function validate(
  catalog: RelationalCatalog,
  tagSets: ParsedTagSets,
  request: Request,
  body: ParsedBody,
): ValidationResult | Promise<ValidationResult> {
  tagSets.add(body);
  return catalog.validate({
    database: request.database,
    tables: body.tables,
    allOrNothing: request.allOrNothing,
    alreadyRefused: body.refused,
    seriesOf: (table, series) => {
      const known = tagSets.of(table.parserTable, series);
      assert.ok(known !== undefined);
      return known;
    },
  });
}

function refusalsByLine(validation: ValidationResult): [number, string][] {
  return validation.tables
    .flatMap(({ parsed, refusals }) =>
      refusals.map(({ row, message }): [number, string] => [
        Number(parsed.lineNumbers[row]),
        message,
      ]),
    )
    .sort(([a], [b]) => a - b);
}

function assertHolds(catalog: RelationalCatalog, model: Model): void {
  const held = catalog.databases().flatMap((database) =>
    [...database.tables.values()].map((table) => {
      const columns = [...table.columns.values()].filter((column) => column.kind !== 'time');
      return [`${database.name}.${table.name}`, columns.map(({ name, kind }) => [name, kind])];
    }),
  );
  const byName = ([a]: readonly unknown[], [b]: readonly unknown[]) =>
    String(a) < String(b) ? -1 : 1;
  const expected = [...model].map(([key, columns]) => [key, [...columns].sort(byName)]);
  assert.deepEqual(held.sort(byName), expected.sort(byName));
  for (const database of catalog.databases()) {
    for (const table of database.tables.values()) {
      const columns = model.get(`${database.name}.${table.name}`) ?? new Map();
      const tags = [...columns].filter(([, kind]) => kind === 'tag').map(([name]) => name);
      assert.deepEqual(table.seriesKey, tags);
      assert.equal(catalog.tableById(table.id), table);
    }
  }
}

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'time');
const type = fc.constantFrom<FieldType>('float64', 'float64', 'int64', 'uint64', 'utf8', 'bool');
const line: fc.Arbitrary<Line> = fc.record({
  table: fc.constantFrom('cpu', 'cpu', 'mem', 'disk'),
  tags: fc.uniqueArray(name, { maxLength: 3 }),
  fields: fc.uniqueArray(fc.record({ name, type }), {
    minLength: 1,
    maxLength: 3,
    selector: (field) => field.name,
  }),
});
const requests = (database: fc.Arbitrary<string>): fc.Arbitrary<Request[]> =>
  fc.array(
    fc.record({
      database,
      allOrNothing: fc.boolean(),
      lines: fc.array(line, { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 8 },
  );

it('decides like the reference rules, and keeps the result across a restart', async () => {
  const anyDatabase = requests(fc.constantFrom('x', 'y'));
  await fc.assert(
    fc.asyncProperty(anyDatabase, async (all) => {
      await using opened = await openTestCatalog(LIMITS);
      const model: Model = new Map();
      const parser = new LineProtocolParser();
      const tagSets = new ParsedTagSets();
      for (const request of all) {
        const body = parse(parser, request);
        const before = opened.catalog.databases();
        const validation = validate(opened.catalog, tagSets, request, body);
        const response = await validation;
        assert.deepEqual(
          refusalsByLine(response),
          takeRequest(model, inParsedOrder(request, body)),
        );
        const hasChanged = opened.catalog.databases() !== before;
        assert.equal(validation instanceof Promise, hasChanged, 'waits only for a change');
        assertHolds(opened.catalog, model);
      }
      assertHolds(await opened.reopen(), model);
    }),
    { numRuns: caseCount(40) },
  );
});

it('decides the same for concurrent requests', async () => {
  await fc.assert(
    fc.asyncProperty(requests(fc.constant('x')), async (all) => {
      await using opened = await openTestCatalog(LIMITS);
      const model: Model = new Map();
      const parser = new LineProtocolParser();
      const tagSets = new ParsedTagSets();
      const bodies = all.map((request) => parse(parser, request));
      const results = bodies.map((body, index) =>
        validate(opened.catalog, tagSets, all[index] as Request, body),
      );
      for (const [index, body] of bodies.entries()) {
        const request = inParsedOrder(all[index] as Request, body);
        const response = await results[index];
        assert.ok(response !== undefined);
        assert.deepEqual(refusalsByLine(response), takeRequest(model, request));
      }
      assertHolds(opened.catalog, model);
    }),
    { numRuns: caseCount(40) },
  );
});

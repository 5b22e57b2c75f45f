import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './domain/influxql/answer.js';
import type { Value } from './domain/influxql/plan/data-type.js';
import type { OpenTsdb } from './service.js';
import { openTestNode } from './testing/open-test-node.js';
import { type QueryCase, readQueryFile } from './testing/query-case.js';

/**
 * Cases as text: `name.influxql` and, beside it, the answers in `name.result`. Those without an error were computed by
 * InfluxDB 1.6.7 from the same rows; floats have nine digits.
 */
const FOLDER = join(import.meta.dirname, '../test/queries');

async function write(node: OpenTsdb, database: string, lines: readonly string[]): Promise<void> {
  await node.catalog.ensureDatabase(database);
  const outcome = await node.engine.write({
    database,
    body: Buffer.from(lines.join('\n')),
    encoding: 'identity',
    maxSizeBytes: 1_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: 0n,
  });
  assert.deepEqual(outcome.refused, []);
}

async function answer(node: OpenTsdb, database: string, query: QueryCase): Promise<string[]> {
  try {
    const run = await node.influxql.open({
      text: query.query,
      database,
      policy: undefined,
      params: new Map(Object.entries(query.params) as [string, string][]), // case files hold texts only
      signal: new AbortController().signal,
    });
    try {
      return await rendered(await run.execute(0));
    } finally {
      run.end('success');
    }
  } catch (error) {
    return [`error: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function rendered({ columns, tagNames, series }: Answer): Promise<string[]> {
  const lines: string[] = [];
  let before = '';
  for await (const { name, tags, rowCount, columns: values } of series) {
    const head = `${name}{${tagNames.map((tag, i) => `${tag}=${tags[i]}`).join(',')}}`;
    if (head !== before) lines.push(head, columns.map((column) => column.name).join(' | '));
    before = head;
    for (let row = 0; row < rowCount; row++) {
      lines.push(values.map((column) => cellText(column[row] ?? null)).join(' | '));
    }
  }
  return lines.length === 0 ? ['(no series)'] : lines;
}

function cellText(value: Value): string {
  if (value === null || Number.isNaN(value)) return 'NULL';
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  if (typeof value !== 'string') return String(value);
  return value === value.trim() && value !== '' ? value : `"${value}"`;
}

/** An expected error is a part of the message, the rest is compared whole. */
function isAsExpected(actual: readonly string[], expected: readonly string[]): boolean {
  const [wanted = ''] = expected;
  if (!wanted.startsWith('error:')) return actual.join('\n') === expected.join('\n');
  const [line = ''] = actual;
  return line.startsWith('error:') && actual.join('\n').includes(wanted.slice(6).trim());
}

describe('InfluxQL answers as its specification says', async () => {
  const names = (await readdir(FOLDER))
    .filter((name) => name.endsWith('.influxql'))
    .map((name) => name.slice(0, -9));
  let dataDir = '';
  let node: OpenTsdb;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'plinth-influxql-'));
    node = await openTestNode(dataDir);
  });
  after(async () => {
    await node.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const name of names) {
    it(`about ${name.replace('influxql-', '')}`, async () => {
      const [text, result] = await Promise.all(
        ['influxql', 'result'].map((kind) => readFile(join(FOLDER, `${name}.${kind}`), 'utf8')),
      );
      const file = readQueryFile(text ?? '', result ?? '');
      await write(node, name, file.writes);
      const failures: string[] = [];
      for (const query of file.cases) {
        const actual = await answer(node, name, query);
        if (isAsExpected(actual, query.expected)) continue;
        failures.push(
          `${query.number} (${query.section})\n${query.query}\nexpected\n${query.expected.join('\n')}\nactual\n${actual.join('\n')}\n`,
        );
      }
      if (failures.length > 0) assert.fail(`\n${failures.join('\n')}`);
    });
  }
});

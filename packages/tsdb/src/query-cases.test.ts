import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ParameterValue } from './domain/sql/planned-query.js';
import type { OpenTsdb } from './service.js';
import { openTestNode } from './testing/open-test-node.js';
import { type QueryCase, type QueryFile, readQueryFile } from './testing/query-case.js';
import { renderResult } from './testing/render-result.js';

/** Cases as text: `name.sql` and, beside it, the answers in `name.result`. */
const FOLDER = join(import.meta.dirname, '../test/queries');

async function write(node: OpenTsdb, database: string, lines: readonly string[]): Promise<void> {
  await node.catalog.ensureDatabase(database);
  if (lines.length === 0) return;
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

/** The answer in the form of a result file. */
async function answer(node: OpenTsdb, database: string, query: QueryCase): Promise<string[]> {
  try {
    const result = await node.engine.query({
      database,
      language: 'sql',
      text: query.query,
      params: new Map(
        Object.entries(query.params).map(([name, value]) => [name, parameterOf(value)]),
      ),
      signal: new AbortController().signal,
    });
    return await renderResult(result);
  } catch (error) {
    return [`error: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function parameterOf(value: unknown): ParameterValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  // Case files hold no other kinds of parameters.
  return value as null | boolean | string;
}

/** An expected error is a part of the message, the rest is compared whole. */
function isAsExpected(actual: readonly string[], expected: readonly string[]): boolean {
  const [wanted = ''] = expected;
  if (wanted.startsWith('error:')) {
    const [line = ''] = actual;
    return line.startsWith('error:') && actual.join('\n').includes(wanted.slice(6).trim());
  }
  return actual.join('\n') === expected.join('\n');
}

async function failuresOf(node: OpenTsdb, database: string, file: QueryFile): Promise<string[]> {
  const failures: string[] = [];
  for (const query of file.cases) {
    const actual = await answer(node, database, query);
    if (isAsExpected(actual, query.expected)) continue;
    failures.push(
      `${database} ${query.number} (${query.section})\n${query.query}\n` +
        `expected\n${query.expected.join('\n')}\nactual\n${actual.join('\n')}\n`,
    );
  }
  return failures;
}

describe('SQL answers as its specification says', async () => {
  const names = (await readdir(FOLDER))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -4));
  let dataDir = '';
  /** One for all files, a database for each. */
  let node: OpenTsdb;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'plinth-queries-'));
    node = await openTestNode(dataDir);
  });
  after(async () => {
    await node.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const name of names) {
    it(`about ${name.replaceAll('-', ' ')}`, async () => {
      const [sql, result] = await Promise.all(
        ['sql', 'result'].map((kind) => readFile(join(FOLDER, `${name}.${kind}`), 'utf8')),
      );
      const file = readQueryFile(sql ?? '', result ?? '');
      await write(node, name, file.writes);
      const failures = await failuresOf(node, name, file);
      if (failures.length > 0) assert.fail(`\n${failures.join('\n')}`);
    });
  }
});

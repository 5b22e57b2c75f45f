import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { type QueryCase, type QueryFile, readQueryFile } from './query-case.js';

const FOLDER = join(import.meta.dirname, '../../queries');

export interface CaseLanguage {
  readonly title: string;
  /** Extension of the query files; the results are in `name.result`. */
  readonly extension: string;
  /** Lines of the result in the form of a result file; an exception becomes a line `error: ...`. */
  respond(node: OpenTsdb, database: string, query: QueryCase): Promise<string[]>;
}

/** Declares one test per file of the language, on one node with one database per file. */
export function describeCases(language: CaseLanguage): void {
  describe(language.title, async () => {
    const ending = `.${language.extension}`;
    const names = (await readdir(FOLDER))
      .filter((name) => name.endsWith(ending))
      .map((name) => name.slice(0, -ending.length));
    let dataDir = '';
    let node: OpenTsdb;
    before(async () => {
      dataDir = await temporaryFolder();
      node = await openTestNode(dataDir);
    });
    after(() => node.close());
    for (const name of names) {
      it(`about ${name.replaceAll('-', ' ')}`, async () => {
        const [queries, result] = await Promise.all(
          [ending, '.result'].map((kind) => readFile(join(FOLDER, name + kind), 'utf8')),
        );
        const file = readQueryFile(queries ?? '', result ?? '');
        await write(node, name, file.writes);
        const failures = await failuresOf(language, node, name, file);
        if (failures.length > 0) assert.fail(`\n${failures.join('\n')}`);
      });
    }
  });
}

async function write(node: OpenTsdb, database: string, lines: readonly string[]): Promise<void> {
  await node.catalog.ensureDatabase(database);
  if (lines.length === 0) return;
  const outcome = await node.engine.write({
    database,
    body: Buffer.from(lines.join('\n')),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: 0n,
  });
  assert.deepEqual(outcome.refused, []);
}

async function failuresOf(
  language: CaseLanguage,
  node: OpenTsdb,
  database: string,
  file: QueryFile,
): Promise<string[]> {
  const failures: string[] = [];
  for (const query of file.cases) {
    const actual = await language
      .respond(node, database, query)
      .catch((error: unknown) => [`error: ${error instanceof Error ? error.message : error}`]);
    if (isAsExpected(actual, query.expected)) continue;
    failures.push(
      `${database} ${query.number} (${query.section})\n${query.query}\n` +
        `expected\n${query.expected.join('\n')}\nactual\n${actual.join('\n')}\n`,
    );
  }
  return failures;
}

/** An expected error is a substring of the message; everything else must be equal. */
function isAsExpected(actual: readonly string[], expected: readonly string[]): boolean {
  const [wanted = ''] = expected;
  if (!wanted.startsWith('error:')) return actual.join('\n') === expected.join('\n');
  const [line = ''] = actual;
  return line.startsWith('error:') && actual.join('\n').includes(wanted.slice(6).trim());
}

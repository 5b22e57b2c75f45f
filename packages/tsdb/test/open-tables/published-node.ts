import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { type ObjectStore, SystemClock } from '@plinth/kernel';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import avro from 'avsc';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { TEST_DATABASE } from '#src/testing/write-and-query.js';

export const KEEP_MS = 3_600_000;
const FLAGS = {
  'open-tables-databases': TEST_DATABASE,
  'open-tables-keep-ms': String(KEEP_MS),
  'tsdb-column-cache-bytes': '0',
};

/** A folder whose database is published; the clock moves only by `clock.advance`. */
export async function publishedFolder(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock(new SystemClock().nowMs());
  let running: TestNode | undefined;
  const stop = async (): Promise<void> => {
    await running?.close();
    running = undefined;
  };
  context.after(async () => {
    faults.heal();
    await stop();
  });
  return {
    ...{ dataDir, faults, clock, stop },
    async start(
      flags: Readonly<Record<string, string>> = {},
      before: (objects: ObjectStore) => ObjectStore = (objects) => objects,
    ): Promise<TestNode> {
      running = await openTestNode(dataDir, {
        ...{ clock, faults, before },
        flags: { ...FLAGS, ...flags },
      });
      return running;
    },
  };
}

export function tableOf(node: TestNode, name = 'm'): TableSchema {
  const table = node.catalog.database(TEST_DATABASE)?.tables.get(name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return table;
}

export const publish = (node: TestNode, name = 'm'): Promise<void> =>
  node.openTables.publishNow([tableOf(node, name)]);

/** A snapshot as a reader finds it, without the server: from the folder of a table. */
export interface ReadSnapshot {
  readonly version: number;
  // biome-ignore lint/suspicious/noExplicitAny: members of the metadata file.
  readonly metadata: any;
  readonly files: readonly { readonly path: string; readonly rows: number }[];
  /** Sums of a column over all files of the snapshot. */
  sum(column: string): Promise<number>;
}

/** Reads the metadata file with the greatest version. Every file of its snapshot must exist. */
export async function readNewest(
  dataDir: string,
  { uuid }: Pick<TableSchema, 'uuid'>,
  tree: '' | '-jvm' = '',
): Promise<ReadSnapshot | undefined> {
  const folder = join(dataDir, 'objects/open-tables', `${uuid}${tree}`, 'metadata');
  const names = await readdir(folder).catch(() => []);
  const versions = names.flatMap((name) => /^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? []);
  const version = Math.max(...versions.map(Number));
  if (versions.length === 0) return undefined;
  const text = await readFile(join(folder, `v${version}.metadata.json`), 'utf8');
  const metadata = JSON.parse(text);
  const id = metadata['current-snapshot-id'];
  const snapshot = metadata.snapshots.find(
    (each: Record<string, unknown>) => each['snapshot-id'] === id,
  );
  return await readSnapshot({ version, metadata }, snapshot['manifest-list']);
}

/** Reads the snapshot of a manifest list. */
export async function readSnapshot(
  of: Pick<ReadSnapshot, 'version' | 'metadata'>,
  manifestList: string,
): Promise<ReadSnapshot> {
  const files: { path: string; rows: number }[] = [];
  for (const manifest of await records(manifestList)) {
    for (const entry of await records(manifest.manifest_path)) {
      const { file_path, record_count } = entry.data_file;
      files.push({ path: file_path.replace('file://', ''), rows: record_count });
    }
  }
  return { ...of, files, sum: (column) => sumOf(files, column) };
}

// biome-ignore lint/suspicious/noExplicitAny: records of any schema.
async function records(location: string): Promise<any[]> {
  const path = location.replace('file://', '');
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const found: any[] = [];
  await new Promise<void>((resolve, reject) => {
    avro
      .createFileDecoder(path)
      .on('data', (record) => found.push(record))
      .on('error', reject)
      .on('end', resolve);
  });
  return found;
}

async function sumOf(files: readonly { path: string }[], column: string): Promise<number> {
  if (files.length === 0) return 0;
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const list = files.map(({ path }) => `'${path}'`).join(', ');
  const result = await connection.runAndReadAll(
    `SELECT sum("${column}")::DOUBLE FROM read_parquet([${list}], union_by_name = true)`,
  );
  connection.closeSync();
  instance.closeSync();
  return Number(result.getRows()[0]?.[0]);
}

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  type BucketStore,
  type FolderObjectStore,
  S3ObjectStore,
  SystemClock,
} from '@plinth/kernel';
import { CallFaults, FakeS3, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
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

/** A store with a bucket, which is closed after the test. */
export async function fakeS3(context: TestContext) {
  const fake = await FakeS3.start();
  context.after(() => fake.close());
  return {
    fake,
    /** Opened by each start of a node, which closes it. */
    bucket: (): BucketStore =>
      new S3ObjectStore({
        ...{ bucket: fake.bucket, prefix: '', endpoint: fake.url, region: 'us-east-1' },
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
        ...{ timeoutMs: 10_000, retries: 0 },
      }),
  };
}

/** A folder whose database is published; the clock moves only by `clock.advance`. */
export async function publishedFolder(
  context: TestContext,
  { bucket = () => undefined }: { readonly bucket?: () => BucketStore | undefined } = {},
) {
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
      before: (objects: FolderObjectStore) => FolderObjectStore = (objects) => objects,
    ): Promise<TestNode> {
      running = await openTestNode(dataDir, {
        ...{ clock, faults, before, bucket: bucket() },
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

/** Like `readNewest`, from a bucket. */
export async function readBucket(
  fake: FakeS3,
  table: Pick<TableSchema, 'uuid'>,
  tree: '' | '-jvm' = '',
): Promise<ReadSnapshot | undefined> {
  const folder = await temporaryFolder();
  for (const [name, bytes] of fake.objects) {
    const path = join(folder, 'objects', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
  const toPath = (location: string): string =>
    location.replace(`s3://${fake.bucket}`, join(folder, 'objects'));
  return await readNewest(folder, table, tree, toPath);
}

const ofFile = (location: string): string => location.replace('file://', '');

/** Reads the metadata file with the greatest version. Every file of its snapshot must exist. */
export async function readNewest(
  dataDir: string,
  { uuid }: Pick<TableSchema, 'uuid'>,
  tree: '' | '-jvm' = '',
  toPath = ofFile,
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
  return await readSnapshot({ version, metadata }, snapshot['manifest-list'], toPath);
}

/** Reads the snapshot of a manifest list. */
export async function readSnapshot(
  options: Pick<ReadSnapshot, 'version' | 'metadata'>,
  manifestList: string,
  toPath = ofFile,
): Promise<ReadSnapshot> {
  const files: { path: string; rows: number }[] = [];
  for (const manifest of await records(toPath(manifestList))) {
    for (const entry of await records(toPath(manifest.manifest_path))) {
      const { file_path, record_count } = entry.data_file;
      files.push({ path: toPath(file_path), rows: record_count });
    }
  }
  return { ...options, files, sum: (column) => sumOf(files, column) };
}

// biome-ignore lint/suspicious/noExplicitAny: records of any schema.
async function records(path: string): Promise<any[]> {
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

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  EventLoopYielder,
  LocalObjectStore,
  NodeFileSystem,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import avro from 'avsc';
import { MetadataTrees } from './metadata-trees.js';
import { completeHistory, nextVersion } from './next-version.js';

const FILE_COUNT = 100_000;
const DAY_NS = 86_400_000_000_000n;
const COLUMNS: readonly Column[] = [
  { id: 1, name: 'time', kind: 'time', physicalName: 'time' },
  { id: 2, name: 'v', kind: 'float64', physicalName: 'v' },
];

function segment(index: number): Segment {
  const id = `01a22731-0527-7796-${(index >> 16).toString(16).padStart(4, '0')}-${index.toString(16).padStart(12, '0')}`;
  const minTime = BigInt(index % 900) * DAY_NS;
  return {
    ...{ id, tableId: 1, objectName: `tsdb/t/${id}.parquet`, kind: 'unique', formatVersion: 1 },
    ...{ partitionStartNs: 0n, partitionWidthNs: 0n, minTime, maxTime: minTime + 1n },
    ...{ minSeries: 0n, maxSeries: 0n, minSeq: 1n, maxSeq: 1n, rowCount: 2, sizeBytes: 1000 },
    ...{ checksum: 0, modifiedMs: undefined, level: 0, columnIds: new Set([2]) },
  };
}

it(`lists ${FILE_COUNT} files with their bounds in both trees`, async () => {
  const dir = await temporaryFolder();
  const random = new SystemRandom(new SystemClock());
  const objects = await LocalObjectStore.open({
    fileSystem: new NodeFileSystem(),
    root: dir,
    random,
  });
  const yielder = new EventLoopYielder();
  const trees = new MetadataTrees({ objects, yielder, root: `file://${dir}` });
  const files = Array.from({ length: FILE_COUNT }, (_, index) => segment(index));
  const next = await nextVersion({
    ...{ files, columns: COLUMNS, root: trees.root, previous: undefined, history: undefined },
    ...{ nowMs: 1, keepMs: 1, freshThrough: '', mergedThrough: '', yielder },
  });
  assert.ok(next);
  const manifests = await trees.writeManifests('t', next);
  const history = completeHistory(next, manifests, 1);
  await trees.writeLists('t', history);
  await trees.writeMetadata('t', next, history);
  for (const folder of ['t', 't-jvm']) {
    const metadata = JSON.parse(
      await readFile(join(dir, 'open-tables', folder, 'metadata/v1.metadata.json'), 'utf8'),
    );
    const seen = new Set<string>();
    let outside = 0;
    for (const { manifest_path } of await records(metadata.snapshots[0]['manifest-list'])) {
      for (const { data_file } of await records(String(manifest_path))) {
        seen.add(data_file.file_path);
        const [lower] = data_file.lower_bounds;
        const [upper] = data_file.upper_bounds;
        assert.equal(lower.key, 1);
        const min: bigint = lower.value.readBigInt64LE();
        const max: bigint = upper.value.readBigInt64LE();
        if (max !== min + 1n || min % DAY_NS !== 0n) outside++;
      }
    }
    assert.equal(seen.size, FILE_COUNT);
    assert.equal(outside, 0);
  }
});

// biome-ignore lint/suspicious/noExplicitAny: records of any schema.
async function records(location: string): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const found: any[] = [];
  await new Promise<void>((resolve, reject) => {
    avro
      .createFileDecoder(location.replace('file://', ''))
      .on('data', (record) => found.push(record))
      .on('error', reject)
      .on('end', resolve);
  });
  return found;
}

import type { TableStorage } from '@plinth/tsdb-catalog/overview.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { Value } from '../plan/data-type.js';
import { listResult, type ResultColumn, type StatementResult, textColumn } from '../result.js';

/** A time range `[startNs, endNs)` of a policy whose segments do not overlap others. */
interface Shard {
  readonly database: string;
  readonly policy: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly expiryNs: bigint;
}

const DEFAULT_POLICY = 'autogen';
const integer = (name: string): ResultColumn => ({ name, type: 'integer' });

/**
 * Lists time ranges of segments as 1.x shards; unflushed rows are listed by day. Shard IDs are
 * positions in this list and change when segments are merged.
 */
export function showShards(
  databases: readonly DatabaseSchema[],
  storageOf: (table: TableSchema) => TableStorage,
  { isGrouped }: { readonly isGrouped: boolean },
): StatementResult {
  const shards = databases
    .flatMap((database) => shardsOf(database, storageOf))
    .sort((a, b) => compare(a.database, b.database) || compare(a.startNs, b.startNs));
  const rows = shards.map((shard, index) => ({ shard, row: rowOf(shard, BigInt(index + 1)) }));
  const times = ['start_time', 'end_time', 'expiry_time'].map(textColumn);
  const about = [integer('id'), textColumn('database'), textColumn('retention_policy')];
  if (isGrouped) {
    return listResult(
      [...about, ...times],
      [{ name: 'shard groups', rows: rows.map(({ row }) => [...row.about, ...row.times]) }],
    );
  }
  const names = [...new Set(shards.map(({ database }) => database))];
  return listResult(
    [...about, integer('shard_group'), ...times, textColumn('owners')],
    names.map((name) => ({
      name,
      rows: rows
        .filter(({ shard }) => shard.database === name)
        .map(({ row }) => [...row.about, row.about[0] ?? null, ...row.times, '']),
    })),
  );
}

function rowOf(shard: Shard, id: bigint): { readonly about: Value[]; readonly times: Value[] } {
  const { database, policy, startNs, endNs, expiryNs } = shard;
  return { about: [id, database, policy], times: [startNs, endNs, expiryNs].map(secondText) };
}

function shardsOf(
  schema: DatabaseSchema,
  storageOf: (table: TableSchema) => TableStorage,
): readonly Shard[] {
  const [database = '', policy = DEFAULT_POLICY] = schema.name.split('/');
  const spans = new Map<string, Shard>();
  const add = (startNs: bigint, endNs: bigint): void => {
    const expiryNs = endNs + (schema.retentionNs ?? 0n);
    spans.set(`${startNs} ${endNs}`, { database, policy, startNs, endNs, expiryNs });
  };
  for (const table of schema.tables.values()) {
    const { segments, buffered } = storageOf(table);
    for (const { partitionStartNs, partitionWidthNs, minTime, maxTime } of segments) {
      if (partitionWidthNs > 0n) add(partitionStartNs, partitionStartNs + partitionWidthNs);
      else add(...daysOf(minTime, maxTime));
    }
    for (const { minTime, maxTime } of buffered) add(...daysOf(minTime, maxTime));
  }
  return [...spans.values()];
}

const daysOf = (minTime: bigint, maxTime: bigint): [startNs: bigint, endNs: bigint] => [
  floorDiv(minTime, NS_PER_DAY) * NS_PER_DAY,
  (floorDiv(maxTime, NS_PER_DAY) + 1n) * NS_PER_DAY,
];

const secondText = (ns: bigint): string =>
  new Date(Number(floorDiv(ns, 1_000_000n))).toISOString().replace(/\.\d+Z$/, 'Z');

const compare = <T extends string | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

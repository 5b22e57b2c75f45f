import type { Random } from '@plinth/kernel';
import { flushEngine } from '#src/testing/flush-node.js';
import { bounded, type SimulatedNode } from './simulated-node.js';
import {
  type Change,
  deleted,
  dropped,
  type SimRow,
  type StorageModel,
  written,
} from './storage-model.js';

const DAY_SEC = 86_400;
const PERIOD_SEC = 2 * DAY_SEC;
const NS_PER_SEC = 1_000_000_000n;
/** A database whose rows expire. */
const AGING = 'aging';
const DATABASES: readonly string[] = ['kept', AGING];
const TABLES: readonly string[] = ['m', 'n'];
export const ALL_TABLES = DATABASES.flatMap((db) => TABLES.map((table) => `${db}/${table}`));
/** Tables with more points are emptied. */
const MAX_POINTS = 120;
const MAX_HOSTS = 60;

export interface Step {
  readonly name: string;
  /** Relative frequency among all steps. */
  readonly weight: number;
  run(at: Stage): Promise<void>;
}

/** Context of a step. */
export interface Stage {
  readonly sim: SimulatedNode;
  readonly model: StorageModel;
  readonly random: Random;
  /** Applies a change; if that fails, it may still have been applied. */
  change(change: Change, call: () => Promise<unknown>): Promise<void>;
  /** Queries all rows and sums of a table, and compares both with the model. */
  check(table: string): Promise<void>;
}

export const STEPS: readonly Step[] = [
  { name: 'write', weight: 4000, run: write },
  { name: 'delete', weight: 80, run: deleteRows },
  { name: 'delete-by-value', weight: 40, run: deleteByValue },
  { name: 'flush', weight: 30, run: flush },
  { name: 'flush-beside', weight: 20, run: flushBeside },
  { name: 'wait', weight: 12, run: wait },
  { name: 'query', weight: 30, run: query },
  { name: 'drop-table', weight: 4, run: dropTable },
  { name: 'drop-database', weight: 1, run: dropDatabase },
  { name: 'restart', weight: 2, run: restart },
  { name: 'kill', weight: 2, run: kill },
  { name: 'backup', weight: 1, run: backUp },
];

export const fromSecOf = (table: string, nowSec: number): number =>
  table.startsWith(`${AGING}/`) ? nowSec - PERIOD_SEC : Number.NEGATIVE_INFINITY;

const below = (random: Random, count: number): number => Math.floor(random.float() * count);
// never empty
const oneOf = <T>(random: Random, all: readonly T[]): T => all[below(random, all.length)] as T;

async function write({ sim, model, random, change }: Stage): Promise<void> {
  const database = oneOf(random, DATABASES);
  const full = TABLES.map((table) => `${database}/${table}`).find(
    (table) => model.pointCount(table) > MAX_POINTS,
  );
  if (full !== undefined) {
    await deleteFrom({ sim, change }, { tables: [full], fromSec: 0, toSec: 4e9, hosts: undefined });
    return;
  }
  const rows = Array.from({ length: 1 + below(random, 5) }, () => rowOf(database, sim, random));
  // A database that is still in memory may be deleted; the write would create it again, without a
  // retention period.
  if (database === AGING && (!hasDatabase(sim, AGING) || model.worldCount > 1)) {
    const period = BigInt(PERIOD_SEC) * NS_PER_SEC;
    const { catalog } = sim.node;
    await bounded(
      unlessKind(catalog.createDatabase(AGING, period), ['resource_exists']),
      'create database',
    );
  }
  await change(written(rows), () => sim.write(database, rows.map(lineOf)));
}

/** Ignores errors of these kinds, because memory may not reflect the outcome of a failed change. */
async function unlessKind(change: Promise<unknown>, kinds: readonly string[]): Promise<void> {
  await change.catch((error: unknown) => {
    if (!kinds.includes((error as { readonly kind?: string }).kind ?? '')) throw error;
  });
}

const hasDatabase = ({ node }: SimulatedNode, name: string): boolean =>
  node.catalog.database(name) !== undefined;

/** Few timestamps and hosts, so that points repeat. */
function rowOf(database: string, { nowSec }: SimulatedNode, random: Random): SimRow {
  const isNew = random.float() < 0.1;
  const isLate = random.float() < 0.2;
  const has = random.float();
  return {
    table: `${database}/${oneOf(random, TABLES)}`,
    host: isNew ? `n${below(random, MAX_HOSTS)}` : oneOf(random, ['a', 'b', 'c']),
    zone: random.float() < 0.2 ? oneOf(random, ['x', 'y']) : undefined,
    timeSec: nowSec - below(random, 12) - (isLate ? below(random, 3) * DAY_SEC : 0),
    i: has < 0.8 ? below(random, 1000) : undefined,
    s: has > 0.6 ? `s${below(random, 1000)}` : undefined,
  };
}

function lineOf({ table, host, zone, timeSec, i, s }: SimRow): string {
  const fields = [
    ...(i === undefined ? [] : [`i=${i}i`]),
    ...(s === undefined ? [] : [`s="${s}"`]),
  ];
  const tags = `host=${host}${zone === undefined ? '' : `,zone=${zone}`}`;
  return `${table.split('/')[1]},${tags} ${fields.join(',')} ${timeSec}`;
}

async function deleteRows({ sim, random, change }: Stage): Promise<void> {
  const database = oneOf(random, DATABASES);
  const there = TABLES.filter((table) => sim.node.catalog.database(database)?.tables.has(table));
  if (there.length === 0) return;
  const toSec = sim.nowSec - below(random, 10) - (random.float() < 0.3 ? DAY_SEC : 0);
  const kind = random.float();
  await deleteFrom(
    { sim, change },
    {
      tables: (kind < 0.2 ? there : [oneOf(random, there)]).map((table) => `${database}/${table}`),
      fromSec: toSec - (kind > 0.8 ? 3 * DAY_SEC : below(random, 5)),
      toSec,
      hosts: random.float() < 0.6 ? [oneOf(random, ['a', 'b', 'c', 'n1'])] : undefined,
    },
  );
}

async function deleteByValue({ sim, random, change }: Stage): Promise<void> {
  const at = oneOf(random, ALL_TABLES);
  const [database = '', table = ''] = at.split('/');
  const schema = sim.node.catalog.database(database)?.tables.get(table);
  if (schema?.columns.has('i') !== true) return;
  const from = below(random, 1000);
  const host = random.float() < 0.5 ? oneOf(random, ['a', 'b', 'c', 'n1']) : undefined;
  const isDeleted = (point: { readonly host: string; readonly i: number | undefined }): boolean =>
    point.i !== undefined && point.i >= from && (host === undefined || host === point.host);
  const where = `i >= ${from}${host === undefined ? '' : ` AND host = '${host}'`}`;
  await change(deleted([at], isDeleted), () =>
    sim.influxql(database, `DELETE FROM "${database}"."autogen"."${table}" WHERE ${where}`),
  );
}

async function deleteFrom(
  { sim, change }: Pick<Stage, 'sim' | 'change'>,
  options: {
    readonly tables: readonly string[];
    readonly fromSec: number;
    readonly toSec: number;
    readonly hosts: readonly string[] | undefined;
  },
): Promise<void> {
  const { tables, fromSec, toSec, hosts } = options;
  const isDeleted = (point: { readonly host: string; readonly timeSec: number }): boolean =>
    point.timeSec >= fromSec &&
    point.timeSec <= toSec &&
    (hosts === undefined || hosts.includes(point.host));
  const request = {
    database: tables[0]?.split('/')[0] ?? '',
    tables: tables.map((table) => table.split('/')[1] ?? ''),
    minTimeNs: BigInt(fromSec) * NS_PER_SEC,
    maxTimeNs: BigInt(toSec) * NS_PER_SEC,
    anyOf: [hosts === undefined ? [] : [{ tag: 'host', op: 'in', values: hosts } as const]],
  };
  await change(deleted(tables, isDeleted), () =>
    bounded(sim.engine.deleteRows(request), 'delete rows'),
  );
}

/** Flushes all tables, or one: rows of the others stay in the log. */
async function flush({ sim, random }: Stage): Promise<void> {
  const { engine } = sim;
  const isAll = random.float() < 0.5;
  const flushing = isAll ? flushEngine(engine) : engine.background.flusher.flush('worthwhile');
  await bounded(flushing, 'flush');
}

/** Changes by a client during a flush and the merges after it. */
async function flushBeside(stage: Stage): Promise<void> {
  const flushing = bounded(flushEngine(stage.sim.engine), 'flush');
  flushing.catch(() => undefined); // it may fail before it is awaited
  for (let turn = below(stage.random, 30); turn > 0; turn--) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const kind = stage.random.float();
  const beside =
    kind < 0.4
      ? write
      : kind < 0.6
        ? deleteRows
        : kind < 0.8
          ? deleteByValue
          : kind < 0.9
            ? dropTable
            : query;
  const outcomes = await Promise.allSettled([flushing, beside(stage)]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Makes all background work due. */
async function wait({ sim, random }: Stage): Promise<void> {
  const kind = random.float();
  await sim.clock.advanceMs(kind < 0.7 ? 1000 * (1 + below(random, 12)) : 1000);
  if (kind > 0.9) {
    sim.clock.stepWallMs(3_600_000 * (1 + below(random, 20)));
    await sim.clock.advanceMs(6000);
  }
  await bounded(flushEngine(sim.engine), 'flush');
}

async function query({ random, check }: Stage): Promise<void> {
  await check(oneOf(random, ALL_TABLES));
}

const GONE = ['already_deleted', 'table_not_known', 'database_not_known', 'resource_not_found'];

async function dropTable({ sim, random, change }: Stage): Promise<void> {
  const at = oneOf(random, ALL_TABLES);
  const [database = '', table = ''] = at.split('/');
  if (sim.node.catalog.database(database)?.tables.has(table) !== true) return;
  await change(
    dropped((each) => each === at),
    () =>
      bounded(
        unlessKind(
          sim.node.catalog.deletions.deleteTable({ database, table, hardDelete: { kind: 'now' } }),
          GONE,
        ),
        'drop table',
      ),
  );
}

async function dropDatabase({ sim, random, change }: Stage): Promise<void> {
  const database = oneOf(random, DATABASES);
  if (!hasDatabase(sim, database)) return;
  await change(
    dropped((each) => each.startsWith(`${database}/`)),
    () =>
      bounded(
        unlessKind(sim.node.catalog.deletions.deleteDatabase(database, { kind: 'now' }), GONE),
        'drop database',
      ),
  );
}

async function restart({ sim }: Stage): Promise<void> {
  await sim.close();
  await sim.open();
}

async function kill({ sim }: Stage): Promise<void> {
  await sim.kill();
  await sim.open();
}

async function backUp({ sim }: Stage): Promise<void> {
  await sim.replaceBy(await sim.backUp());
  await sim.open();
}

/** A row as a client writes it; absent values are not written. */
export interface SimRow {
  /** `database/table`. */
  readonly table: string;
  readonly host: string;
  readonly zone: string | undefined;
  readonly timeSec: number;
  readonly i: number | undefined;
  readonly s: string | undefined;
}

interface Point {
  readonly host: string;
  readonly timeSec: number;
  readonly text: string;
  readonly i: number | undefined;
  readonly s: string | undefined;
}

type Points = ReadonlyMap<string, Point>;
/** Content of the tables; a table without points may or may not exist. */
type World = ReadonlyMap<string, Points>;

/** A change requested by a client; it is atomic. */
export type Change = (world: World) => World;

export const written =
  (rows: readonly SimRow[]): Change =>
  (world) => {
    const next = new Map(world);
    for (const { table, host, zone, timeSec, i, s } of rows) {
      const points = new Map(next.get(table));
      const text = `${host}|${zone ?? 'NULL'}|${timeText(timeSec)}`;
      const before = points.get(text);
      points.set(text, { host, timeSec, text, i: i ?? before?.i, s: s ?? before?.s });
      next.set(table, points);
    }
    return next;
  };

export const deleted =
  (tables: readonly string[], isDeleted: (point: Point) => boolean): Change =>
  (world) => {
    const next = new Map(world);
    for (const table of tables) {
      next.set(table, new Map([...(next.get(table) ?? [])].filter(([, each]) => !isDeleted(each))));
    }
    return next;
  };

export const dropped =
  (isDropped: (table: string) => boolean): Change =>
  (world) =>
    new Map([...world].filter(([table]) => !isDropped(table)));

/**
 * Expected content of the node. A failed change may have been applied, so there may be several
 * worlds. The data after startup shows the actual world.
 */
export class StorageModel {
  #worlds: readonly World[] = [new Map()];

  get worldCount(): number {
    return this.#worlds.length;
  }

  pointCount(table: string): number {
    return Math.max(...this.#worlds.map((world) => world.get(table)?.size ?? 0));
  }

  apply(change: Change, outcome: 'made' | 'unknown'): void {
    const made = this.#worlds.map(change);
    this.#worlds = distinct(outcome === 'made' ? made : [...this.#worlds, ...made]);
  }

  /** The rows of a table from `fromSec` on, in each of the worlds. */
  candidates(table: string, fromSec: number): readonly string[] {
    return [...new Set(this.#worlds.map((world) => rowsOf(world.get(table), fromSec)))];
  }

  /** Keeps the matching worlds; returns false if there are none. */
  narrow(found: ReadonlyMap<string, string>, fromSecOf: (table: string) => number): boolean {
    const left = this.#worlds.filter((world) =>
      [...found].every(([table, rows]) => rowsOf(world.get(table), fromSecOf(table)) === rows),
    );
    if (left.length > 0) this.#worlds = left;
    return left.length > 0;
  }

  /** Count and sum of `i` as InfluxQL returns them, in each of the worlds. */
  sums(table: string, fromSec: number): readonly string[] {
    return this.#worlds.map((world) => {
      const values = [...(world.get(table)?.values() ?? [])]
        .filter(({ timeSec, i }) => timeSec >= fromSec && i !== undefined)
        .map(({ i }) => i ?? 0);
      return values.length === 0 ? '' : `${values.length} ${values.reduce((a, b) => a + b)}`;
    });
  }
}

export const timeText = (timeSec: number): string =>
  new Date(timeSec * 1000).toISOString().slice(0, 19);

function rowsOf(points: Points | undefined, fromSec: number): string {
  return [...(points?.values() ?? [])]
    .filter(({ timeSec }) => timeSec >= fromSec)
    .map(({ text, i, s }) => `${text}|${i ?? 'NULL'}|${s ?? 'NULL'}`)
    .sort()
    .join('\n');
}

function distinct(worlds: readonly World[]): readonly World[] {
  if (worlds.length === 1) return worlds;
  const byText = new Map<string, World>();
  for (const world of worlds) {
    const tables = [...world].map(([table, points]) => `${table}\n${rowsOf(points, 0)}`);
    byText.set(tables.sort().join('\n\n'), world);
  }
  return [...byText.values()];
}

import type { Clock } from '@plinth/kernel';
import { escapedKey, floatText } from '@plinth/line-protocol';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { type DatabaseAccess, FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import { isoNsOf } from '@plinth/tsdb-model/time/calendar.js';
import { lineWriter } from '../continuous-queries/compute-sql.js';
import { conversionOf, copyText, type TargetKind } from './conversion-sql.js';
import { copyRanges, spansWithin } from './copy-ranges.js';
import { DirtyTimes, type TimeRange } from './dirty-times.js';

export const COPY_ACCESS: DatabaseAccess = { ...FULL_ACCESS, owner: 'conversions' };
/** Number of rows per query, so that the memory of a conversion does not depend on the table size. */
const ROWS_PER_RANGE = 100_000;
const LINES_PER_WRITE = 10_000;
const MAX_PASSES = 30;
const ALL_TIMES: TimeRange = { minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS };

export interface CopyDeps {
  readonly engine: TsdbEngine;
  readonly clock: Clock;
  readonly database: string;
  /** Returns the current schema; `undefined` if the table was deleted. */
  readonly tableOf: () => TableSchema | undefined;
  readonly columnName: string;
  readonly to: TargetKind;
  readonly staged: TableSchema;
  readonly signal: AbortSignal;
  readonly onCopied: (rowCount: number) => void;
}

/**
 * Copies the rows of a table to its staged copy. Rows that are written in the meantime are copied
 * again in further passes, by their seconds.
 */
export class TableCopy implements Disposable {
  readonly #deps: CopyDeps;
  readonly #dirty = new DirtyTimes();
  readonly #endObserving: () => void;
  #passCount = 0;

  constructor(deps: CopyDeps) {
    this.#deps = deps;
    const store = deps.engine.tableStore(this.#table());
    this.#endObserving = store.observe(({ times }) => this.#dirty.add(times));
  }

  /** Call if rows of the table were deleted. */
  rowsDeleted(): void {
    this.#dirty.addAll();
  }

  /** Returns whether only a few rows are missing in the copy, so that writes can wait for them. */
  get isShort(): boolean {
    const dirty = this.#dirty.ranges();
    if (dirty === 'all') return false;
    const spans = this.#spans();
    let rowCount = 0;
    for (const range of dirty)
      for (const span of spansWithin(spans, range)) rowCount += span.rowCount;
    return rowCount <= ROWS_PER_RANGE;
  }

  /** Resolves when only a few rows are missing. Each call makes at least one of the allowed passes. */
  async run(): Promise<void> {
    do {
      if (this.#passCount >= MAX_PASSES) {
        const fix = 'reduce the writes to the table, and start the conversion again';
        const text = `rows are written faster than they can be copied; ${fix}`;
        throw tsdbError('conversion_failed', text);
      }
      if (this.#passCount === 0) await this.#pass(ALL_TIMES);
      else await this.#catchUp((range) => this.#pass(range));
      this.#passCount++;
    } while (!this.isShort);
  }

  /** Copies the missing rows without pauses, while writes wait. Call only if `isShort`. */
  async finish(): Promise<void> {
    await this.#catchUp((range) => this.#copy(range));
  }

  async #catchUp(copy: (range: TimeRange) => Promise<void>): Promise<void> {
    const dirty = this.#dirty.take();
    for (const range of dirty === 'all' ? [ALL_TIMES] : dirty) {
      if (dirty === 'all' || this.#deps.to === 'tag') await this.#clear(range);
      await copy(range);
    }
  }

  [Symbol.dispose](): void {
    this.#endObserving();
  }

  #table(): TableSchema {
    const table = this.#deps.tableOf();
    if (table !== undefined) return table;
    throw tsdbError('conversion_failed', 'the table was deleted during the conversion');
  }

  #spans(): readonly TimeSpan[] {
    const { segments, buffered } = this.#deps.engine.tableStore(this.#table()).storage();
    return [...segments, ...buffered];
  }

  /** Copies a range in parts. Uses at most half of the time, so that requests have priority. */
  async #pass(range: TimeRange): Promise<void> {
    const { clock, signal } = this.#deps;
    for (const part of copyRanges(spansWithin(this.#spans(), range), ROWS_PER_RANGE)) {
      const startMs = clock.monotonicMs();
      await this.#copy(part);
      await clock.sleep(clock.monotonicMs() - startMs, signal);
    }
  }

  /**
   * Removes copied rows, because rows were deleted, or because a changed value of a new tag would
   * leave the point with its former value.
   */
  async #clear({ minTimeNs, maxTimeNs }: TimeRange): Promise<void> {
    const { engine, staged } = this.#deps;
    await engine.deleteRows({
      ...{ database: INTERNAL_DATABASE, tables: [staged.name], isInternal: true },
      ...{ minTimeNs, maxTimeNs, anyOf: [[]] },
    });
  }

  async #copy({ minTimeNs, maxTimeNs }: TimeRange): Promise<void> {
    const { engine, database, columnName, to, staged, signal } = this.#deps;
    const table = this.#table();
    const column = table.columns.get(columnName) as Column; // renames are refused during a conversion
    const conversion = conversionOf(column.kind, to);
    if (conversion === undefined)
      throw new TypeError(`a column of type ${column.kind} cannot be converted to ${to}`);
    const result = await engine.query({
      ...{ database, access: COPY_ACCESS, language: 'sql', signal, isInternal: true },
      text: copyText(table, column, conversion),
      params: new Map([
        ['from', isoNsOf(minTimeNs)],
        ['to', isoNsOf(maxTimeNs)],
      ]),
    });
    const isTag = ({ name }: { readonly name: string }): boolean =>
      name === columnName ? to === 'tag' : table.columns.get(name)?.kind === 'tag';
    const linesOf = lineWriter(staged.name, result.columns, {
      ...{ isTag, floatText: exactFloat, keyText: exactKey },
    });
    for await (const chunk of result.chunks) {
      const lines = linesOf(chunk);
      if (lines.length < chunk.rowCount) {
        const text = `a row has no field except '${columnName}', and points must have a field`;
        throw tsdbError('conversion_failed', text);
      }
      for (let from = 0; from < lines.length; from += LINES_PER_WRITE)
        await this.#write(lines.slice(from, from + LINES_PER_WRITE));
      this.#deps.onCopied(chunk.rowCount);
    }
  }

  async #write(lines: readonly string[]): Promise<void> {
    const { engine, clock, signal } = this.#deps;
    signal.throwIfAborted();
    const body = Buffer.from(lines.join('\n'));
    const { refused } = await engine.write({
      ...{ database: INTERNAL_DATABASE, access: COPY_ACCESS, body, encoding: 'identity' },
      ...{ maxSizeBytes: body.length, precision: 'nanosecond', acceptPartial: false },
      ...{ noSync: false, receivedNs: clock.nowNs(), isInternal: true },
    });
    const [first] = refused;
    if (first !== undefined) throw tsdbError('conversion_failed', first.message);
  }
}

function exactKey(text: string): string {
  if (!/[\t\n]/.test(text)) return escapedKey(text);
  const fault = 'contains a tab or newline, which cannot be copied to a tag';
  throw tsdbError('conversion_failed', `${JSON.stringify(text)} ${fault}`);
}

function exactFloat(value: number): string {
  if (!Number.isNaN(value)) return floatText(value);
  throw tsdbError('conversion_failed', 'a float field contains NaN, which cannot be copied');
}

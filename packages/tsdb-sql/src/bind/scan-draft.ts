import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import {
  MAX_TIME_NS,
  MIN_TIME_NS,
  type ScanRequest,
  type ScanSource,
  type TagCondition,
} from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Values } from '../bound-expr.js';

/** A condition on a tag, a field or the time that every needed row of one scan meets, taken from WHERE or ON. */
export type RowCondition = PlainRowCondition & {
  /** Recomputes the row condition for other literals, if its constants can be recomputed. */
  readonly recompute?: ((values: Values) => PlainRowCondition | undefined) | undefined;
};

export type PlainRowCondition =
  | {
      readonly scan: ScanDraft;
      readonly kind: 'time';
      readonly minNs: bigint;
      readonly maxNs: bigint;
    }
  | { readonly scan: ScanDraft; readonly kind: 'tag'; readonly condition: TagCondition }
  /** Never narrows a DuckDB scan. */
  | { readonly scan: ScanDraft; readonly kind: 'field'; readonly condition: FieldCondition };

/** A scan during binding, which collects the columns and conditions of all its readers. */
export class ScanDraft {
  readonly table: TableSchema;
  readonly index: number;
  /** Source of the rows if it is not the stored table. */
  readonly source: ScanSource | undefined;
  /** Number of readers by column name. */
  readonly #columns = new Map<string, number>();
  readonly #conditions: TagCondition[] = [];
  #minNs = MIN_TIME_NS;
  #maxNs = MAX_TIME_NS;
  #lookbackNs = 0n;
  /**
   * Set on the inner side of an outer join. There, only row conditions that reject NULL rows may narrow the
   * scan.
   */
  isNullable = false;
  #lastRowsOnly = false;
  /** The scan whose rows this one forwards. It may have other readers. */
  readonly #shared: ScanDraft | undefined;

  constructor(table: TableSchema, index: number, source?: ScanSource, shared?: ScanDraft) {
    this.table = table;
    this.index = index;
    this.source = source;
    this.#shared = shared;
  }

  /**
   * Returns one reader's view of a common table. It keeps the reader's bounds and does not narrow
   * the scan for other readers.
   */
  reading(): ScanDraft {
    return new ScanDraft(this.table, this.index, this.source, this);
  }

  /** True for a reader of a common table expression: see `reading`. */
  get isOfCommonTable(): boolean {
    return this.#shared !== undefined;
  }

  use(column: string): void {
    this.#columns.set(column, this.useCount(column) + 1);
  }

  useCount(column: string): number {
    return this.#columns.get(column) ?? 0;
  }

  /** Declares that only the last row of each series within the bounds and conditions is needed. */
  keepLastRows(): void {
    this.#lastRowsOnly = true;
  }

  /** Declares that rows before the lower time bound, up to this distance, are needed as well. */
  lookBack(ns: bigint): void {
    this.#lookbackNs = ns;
  }

  /** Declares that `rowCondition` holds for every needed row of this scan. */
  narrow(rowCondition: RowCondition): void {
    if (rowCondition.kind === 'field' || (this.isNullable && !rejectsNull(rowCondition))) return;
    if (rowCondition.kind === 'tag') {
      this.#conditions.push(rowCondition.condition);
      return;
    }
    if (rowCondition.minNs > this.#minNs) this.#minNs = rowCondition.minNs;
    if (rowCondition.maxNs < this.#maxNs) this.#maxNs = rowCondition.maxNs;
  }

  /** Returns the inclusive time bounds that conditions have set. */
  timeBounds(): { readonly minNs: bigint | undefined; readonly maxNs: bigint | undefined } {
    const { minNs: sharedMinNs = MIN_TIME_NS, maxNs: sharedMaxNs = MAX_TIME_NS } =
      this.#shared?.timeBounds() ?? {};
    const minNs = this.#minNs > sharedMinNs ? this.#minNs : sharedMinNs;
    const maxNs = this.#maxNs < sharedMaxNs ? this.#maxNs : sharedMaxNs;
    return {
      minNs: minNs > MIN_TIME_NS ? minNs : undefined,
      maxNs: maxNs < MAX_TIME_NS ? maxNs : undefined,
    };
  }

  toRequest(): ScanRequest {
    const minNs = this.#minNs - this.#lookbackNs;
    return {
      table: this.table,
      columns: [...this.#columns.keys()],
      minTimeNs: minNs < MIN_TIME_NS ? MIN_TIME_NS : minNs,
      maxTimeNs: this.#maxNs,
      tagConditions: this.#conditions,
      lastRowsOnly: this.#lastRowsOnly,
      ...(this.source !== undefined && { source: this.source }),
    };
  }
}

/** Returns whether a row condition rejects NULL rows of an outer join. `tag IS NULL` does not. */
function rejectsNull(rowCondition: RowCondition): boolean {
  return (
    rowCondition.kind !== 'tag' ||
    rowCondition.condition.op === 'not_in' ||
    !rowCondition.condition.values.includes(undefined)
  );
}

import type { FieldCondition } from '../../../model/in-memory-request.js';
import {
  MAX_TIME_NS,
  MIN_TIME_NS,
  type ScanRequest,
  type ScanSource,
  type TagCondition,
} from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import type { Values } from '../bound-expr.js';

/** A necessary condition on the rows of one scan. */
export type Fact = PlainFact & {
  /** The same of other literals, where its constants can be had again. */
  readonly again?: ((values: Values) => PlainFact | undefined) | undefined;
};

export type PlainFact =
  | {
      readonly scan: ScanDraft;
      readonly kind: 'time';
      readonly minNs: bigint;
      readonly maxNs: bigint;
    }
  | { readonly scan: ScanDraft; readonly kind: 'tag'; readonly condition: TagCondition }
  /** Narrows no scan of the engine. */
  | { readonly scan: ScanDraft; readonly kind: 'field'; readonly condition: FieldCondition };

/** A scan while the query is bound: columns and conditions are gathered from everything that reads it. */
export class ScanDraft {
  readonly table: TableSchema;
  readonly index: number;
  /** Where the rows come from when it is not the stored table. */
  readonly source: ScanSource | undefined;
  /** Names with the number of places that read them. */
  readonly #columns = new Map<string, number>();
  readonly #conditions: TagCondition[] = [];
  #minNs = MIN_TIME_NS;
  #maxNs = MAX_TIME_NS;
  /** Set on the inner side of an outer join: there only facts that no made-up row meets may narrow the scan. */
  isNullable = false;
  #lastRowsOnly = false;
  /** The scan whose rows this one passes on: others read them, too. */
  readonly #shared: ScanDraft | undefined;

  constructor(table: TableSchema, index: number, source?: ScanSource, shared?: ScanDraft) {
    this.table = table;
    this.index = index;
    this.source = source;
    this.#shared = shared;
  }

  /** One reading of a common table's rows: keeps the bounds that its reader sets, and narrows nothing for others. */
  reading(): ScanDraft {
    return new ScanDraft(this.table, this.index, this.source, this);
  }

  /** Its rows are not read as the engine's scan hands them out. */
  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  use(column: string): void {
    this.#columns.set(column, this.useCount(column) + 1);
  }

  useCount(column: string): number {
    return this.#columns.get(column) ?? 0;
  }

  /** Of each series, no row but the last of those within the bounds and conditions matters. */
  keepLastRows(): void {
    this.#lastRowsOnly = true;
  }

  /** The fact holds for every row of this scan that matters. */
  narrow(fact: Fact): void {
    if (fact.kind === 'field' || (this.isNullable && !rejectsNull(fact))) return;
    if (fact.kind === 'tag') {
      this.#conditions.push(fact.condition);
      return;
    }
    if (fact.minNs > this.#minNs) this.#minNs = fact.minNs;
    if (fact.maxNs < this.#maxNs) this.#maxNs = fact.maxNs;
  }

  /** Inclusive bounds of time, as far as conditions have set them. */
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
    return {
      table: this.table,
      columns: [...this.#columns.keys()],
      minTimeNs: this.#minNs,
      maxTimeNs: this.#maxNs,
      tagConditions: this.#conditions,
      lastRowsOnly: this.#lastRowsOnly,
      ...(this.source !== undefined && { source: this.source }),
    };
  }
}

/** False for `tag IS NULL`, which rows made up by an outer join meet as well. */
function rejectsNull(fact: Fact): boolean {
  return (
    fact.kind !== 'tag' ||
    fact.condition.op === 'not_in' ||
    !fact.condition.values.includes(undefined)
  );
}

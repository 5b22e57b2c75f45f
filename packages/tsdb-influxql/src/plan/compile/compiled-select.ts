import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Expr } from '../../ast/expressions.js';
import type { Fill } from '../../ast/select.js';
import type { DataType } from '../data-type.js';
import type { TableSource } from './source.js';

/** A column of a source that a statement reads. */
export interface ColumnRef {
  readonly name: string;
  /** Type in which the statement reads the column; other source types are converted. */
  readonly type: DataType;
  readonly isTag: boolean;
}

export const refKey = (ref: ColumnRef): string =>
  `${ref.isTag ? 't' : 'f'}${ref.type}\0${ref.name}`;

/** A call of the select list other than a scalar function, with its nested calls. */
export interface CompiledCall {
  readonly name: string;
  /** First argument. If it is a call, the other properties keep their defaults. */
  readonly argument:
    | { readonly kind: 'column'; readonly ref: ColumnRef }
    | { readonly kind: 'call'; readonly call: CompiledCall };
  /** Numbers, durations and strings after the first argument. */
  readonly options: readonly (number | bigint | string)[];
  /** Tags or fields of `top` and `bottom`. */
  readonly dimensions: readonly ColumnRef[];
  /** `unknown` if no source has such a column or the function does not accept its type. */
  readonly type: DataType;
}

/**
 * An expression over one row.
 * @template Leaf reference to a value of the row.
 */
export type RowExpr<Leaf> =
  | Leaf
  | {
      readonly kind: 'constant';
      readonly value: number | bigint | string | boolean;
      readonly type: DataType;
    }
  | {
      readonly kind: 'binary';
      readonly op: '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^';
      readonly left: RowExpr<Leaf>;
      readonly right: RowExpr<Leaf>;
      readonly type: DataType;
    }
  | {
      readonly kind: 'scalar';
      readonly name: string;
      readonly args: readonly RowExpr<Leaf>[];
      readonly type: DataType;
    };

/** Expression whose leaves are slot numbers of calls and columns. */
export type SlotExpr = RowExpr<{
  readonly kind: 'slot';
  readonly index: number;
  readonly type: DataType;
}>;

export interface OutputField {
  readonly name: string;
  readonly type: DataType;
  readonly expr: SlotExpr;
  /** Whether INTO writes the column as a tag. */
  readonly isWrittenTag: boolean;
}

export interface Interval {
  readonly everyNs: bigint;
  readonly offsetNs: bigint;
}

export type CompiledSource =
  | TableSource
  | { readonly kind: 'subquery'; readonly select: CompiledSelect };

/** Returns the tables that a SELECT reads, at any depth. */
export function tablesOf({ sources }: Pick<CompiledSelect, 'sources'>): readonly TableSchema[] {
  return sources.flatMap((source) =>
    source.kind === 'table' ? [source.table] : tablesOf(source.select),
  );
}

/** A checked SELECT, ready to run. */
export interface CompiledSelect {
  readonly sources: readonly CompiledSource[];
  readonly timeName: string;
  readonly fields: readonly OutputField[];
  /** Calls, in the slots from 0. */
  readonly calls: readonly CompiledCall[];
  /** Columns of the row, or of the point that a selector picked, in the slots after the calls. */
  readonly columns: readonly ColumnRef[];
  /** True if the only call picks a point. Without an interval, rows then have its time. */
  readonly isSelector: boolean;
  readonly condition: Expr | undefined;
  readonly minNs: bigint;
  readonly maxNs: bigint;
  readonly hasLowerBound: boolean;
  /** How far before the time range the last points are read. Without a lower bound, there are none. */
  readonly lookbackNs: bigint;
  /** Time bounds that the SELECT specifies; the others come from the outer statement. */
  readonly ownRange: { readonly min: bigint | undefined; readonly max: bigint | undefined };
  readonly interval: Interval | undefined;
  /** Sorted ascending. */
  readonly groupTags: readonly string[];
  readonly fill: Fill;
  readonly isDescending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly seriesLimit: number | undefined;
  readonly seriesOffset: number;
  readonly zone: string | undefined;
}

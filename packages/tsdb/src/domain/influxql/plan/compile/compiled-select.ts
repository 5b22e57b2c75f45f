import type { TableSchema } from '../../../../model/schema.js';
import type { Expr } from '../../ast/expressions.js';
import type { Fill } from '../../ast/select.js';
import type { DataType } from '../data-type.js';
import type { TableSource } from './source.js';

/** A column of a source that a statement reads. */
export interface ColumnRef {
  readonly name: string;
  /** As the statement reads it; a source's own type may differ and is converted. */
  readonly type: DataType;
  readonly isTag: boolean;
}

export const refKey = (ref: ColumnRef): string =>
  `${ref.isTag ? 't' : 'f'}${ref.type}\0${ref.name}`;

/** A call of the select list that is no scalar. Nested ones are within. */
export interface CompiledCall {
  readonly name: string;
  /** What it is a function of; nothing else is set when it is a call. */
  readonly argument:
    | { readonly kind: 'column'; readonly ref: ColumnRef }
    | { readonly kind: 'call'; readonly call: CompiledCall };
  /** Numbers, durations and texts behind the first argument. */
  readonly options: readonly (number | bigint | string)[];
  /** Tags or fields of top and bottom. */
  readonly dimensions: readonly ColumnRef[];
  /** `unknown`: no source has such a column, or the function does not take its type. */
  readonly type: DataType;
}

/** An expression over one row. @template Leaf how it names what the row has. */
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

/** Calls and columns by their place in the row of slots. */
export type SlotExpr = RowExpr<{
  readonly kind: 'slot';
  readonly index: number;
  readonly type: DataType;
}>;

export interface OutputField {
  readonly name: string;
  readonly type: DataType;
  readonly expr: SlotExpr;
  /** INTO writes it as a tag. */
  readonly isWrittenTag: boolean;
}

export interface Interval {
  readonly everyNs: bigint;
  readonly offsetNs: bigint;
}

export type CompiledSource =
  | TableSource
  | { readonly kind: 'subquery'; readonly select: CompiledSelect };

/** Tables that a SELECT reads, however deep. */
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
  /** Slots 0.. of the row expressions. */
  readonly calls: readonly CompiledCall[];
  /** Slots behind the calls: columns of the row, or of the point that a selector picked. */
  readonly columns: readonly ColumnRef[];
  /** True when the only call picks a point: rows then have its time, unless there is an interval. */
  readonly isSelector: boolean;
  readonly condition: Expr | undefined;
  readonly minNs: bigint;
  readonly maxNs: bigint;
  readonly hasLowerBound: boolean;
  /** The part of the range that the SELECT states itself; the rest is that of the statement around it. */
  readonly ownRange: { readonly min: bigint | undefined; readonly max: bigint | undefined };
  readonly interval: Interval | undefined;
  /** Ascending. */
  readonly groupTags: readonly string[];
  readonly fill: Fill;
  readonly isDescending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly seriesLimit: number | undefined;
  readonly seriesOffset: number;
  readonly zone: string | undefined;
}

import { invariant } from '@plinth/kernel';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { runThrough, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { type BatchParts, type ColumnBuilder, GrowingBytes, Validity } from './column-builder.js';
import { Offsets } from './text-column.js';

/** Number of flat items or structs appended before yielding. */
const STEP_ITEMS = 256;

/** Appends nested values one by one. They are rare, and their chunks contain objects anyway. */
export function* appendEach(
  column: ColumnBuilder,
  { values, validity }: ColumnVector,
  from: number,
  to: number,
): Steps<void> {
  for (let row = from; row < to; row++) {
    const cell = isValid(validity, row) ? values[row] : null;
    if (column.cellInSteps === undefined) column.appendCell(cell);
    else yield* column.cellInSteps(cell);
    yield;
  }
}

const isAbsent = (cell: unknown): boolean => cell === null || cell === undefined;

/** Builds lists, and maps as lists of pairs. */
export class ListColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #offsets = new Offsets();
  readonly #items: ColumnBuilder;

  constructor(items: ColumnBuilder) {
    this.#items = items;
  }

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append(vector: ColumnVector, from: number, to: number): void {
    runThrough(appendEach(this, vector, from, to));
  }

  appendCell(cell: unknown): void {
    runThrough(this.cellInSteps(cell));
  }

  *cellInSteps(cell: unknown): Steps<void> {
    const items = isAbsent(cell) ? [] : (cell as readonly unknown[]);
    for (let i = 0; i < items.length; i++) {
      const steps = this.#items.cellInSteps?.(items[i]);
      if (steps !== undefined) yield* steps;
      else this.#items.appendCell(items[i]);
      if (steps !== undefined || i % STEP_ITEMS === STEP_ITEMS - 1) yield;
    }
    this.#offsets.push(this.#items.rowCount);
    this.#validity.appendOne(!isAbsent(cell));
  }

  take(parts: BatchParts): void {
    this.#validity.take(parts);
    parts.buffers.push(this.#offsets.take());
    this.#items.take(parts);
  }
}

/** Builds structs and the pairs of maps. */
export class StructColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #children: readonly ColumnBuilder[];
  readonly #memberOf: (cell: unknown, index: number) => unknown;
  /** Defined if a field contains lists. */
  readonly cellInSteps?: (cell: unknown) => Steps<void>;

  /** @param memberOf returns the child's value in a struct that is not NULL. */
  constructor(
    children: readonly ColumnBuilder[],
    memberOf: (cell: unknown, index: number) => unknown,
  ) {
    this.#children = children;
    this.#memberOf = memberOf;
    if (children.some((child) => child.cellInSteps !== undefined))
      this.cellInSteps = (cell) => this.#inSteps(cell);
  }

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append(vector: ColumnVector, from: number, to: number): void {
    runThrough(appendEach(this, vector, from, to));
  }

  appendCell(cell: unknown): void {
    this.#children.forEach((child, index) => {
      child.appendCell(isAbsent(cell) ? null : this.#memberOf(cell, index));
    });
    this.#validity.appendOne(!isAbsent(cell));
  }

  *#inSteps(cell: unknown): Steps<void> {
    for (const [index, child] of this.#children.entries()) {
      const member = isAbsent(cell) ? null : this.#memberOf(cell, index);
      if (child.cellInSteps === undefined) child.appendCell(member);
      else yield* child.cellInSteps(member);
    }
    this.#validity.appendOne(!isAbsent(cell));
  }

  take(parts: BatchParts): void {
    this.#validity.take(parts);
    for (const child of this.#children) child.take(parts);
  }
}

/** A value of a union: the index of its member type, and the value. */
export interface UnionCell {
  readonly member: number;
  readonly value: unknown;
}

/** Builds unions. Each row stores its type and its index among the values of that type. */
export class UnionColumn implements ColumnBuilder {
  readonly #members: readonly ColumnBuilder[];
  readonly #types = new GrowingBytes();
  readonly #places = new GrowingBytes();

  constructor(members: readonly ColumnBuilder[]) {
    this.#members = members;
  }

  get rowCount(): number {
    return this.#types.length;
  }

  append(vector: ColumnVector, from: number, to: number): void {
    runThrough(appendEach(this, vector, from, to));
  }

  appendCell(cell: unknown): void {
    const { member, value } = cell as UnionCell; // unions have no NULL of their own
    const column = this.#members[member];
    invariant(column, 'the union value has an unknown member type');
    const at = this.#places.reserve(4);
    this.#places.bytes.writeInt32LE(column.rowCount, at);
    this.#places.length += 4;
    this.#types.append(Uint8Array.of(member));
    column.appendCell(value);
  }

  take(parts: BatchParts): void {
    parts.nodes.push({ rowCount: this.rowCount, nullCount: 0 });
    parts.buffers.push(this.#types.take(), this.#places.take());
    for (const member of this.#members) member.take(parts);
  }
}

import type { Kind } from '../../model/kinds.js';
import { type IdOrder, orderIds } from './id-order.js';
import type { Row } from './row.js';

/** Maximum number of rows per group, the unit of storage, indexing and sharing between versions. */
export const GROUP_SIZE = 1024;

/** Adjacent rows of one kind. Groups are immutable and shared between versions. */
export interface RowGroup {
  readonly rows: readonly Row[];
  /** Name of the stored object, once it is stored. */
  objectName?: string;
}

/** All rows of one kind in stored order. */
export class KindTable {
  readonly groups: readonly RowGroup[];
  readonly rows: readonly Row[];
  #byId: Map<string, number> | undefined;
  #bySlug: Map<string, number> | undefined;
  #idOrder: Promise<IdOrder> | undefined;

  constructor(groups: readonly RowGroup[], like?: KindTable) {
    this.groups = groups;
    this.rows = groups.length === 1 ? (groups[0]?.rows ?? []) : rowsOf(groups);
    // Lookup tables contain positions, so they stay valid while the same ids are at the same
    // positions.
    if (like !== undefined && this.#namesAlike(like)) {
      this.#byId = like.#byId;
      this.#bySlug = like.#bySlug;
      this.#idOrder = like.#idOrder;
    }
  }

  /**
   * Also returns false if the group boundaries differ, because comparing all rows costs more than
   * indexing them.
   */
  #namesAlike(other: KindTable): boolean {
    return (
      this.groups.length === other.groups.length &&
      this.groups.every((group, index) => hasSameNames(group, other.groups[index]))
    );
  }

  get(id: string): Row | undefined {
    this.#byId ??= new Map(this.rows.map((row, index) => [row.id, index]));
    return at(this.rows, this.#byId.get(id));
  }

  indexOf(id: string): number {
    this.get(id);
    return this.#byId?.get(id) ?? -1;
  }

  idOrder(): Promise<IdOrder> {
    this.#idOrder ??= orderIds(this.rows);
    return this.#idOrder;
  }

  /** Whether both tables are known to have the same ids and slugs at the same positions. */
  hasPlacesOf(other: KindTable | undefined): boolean {
    if (other === undefined) return false;
    return other === this || (this.#byId !== undefined && this.#byId === other.#byId);
  }

  /** Yields the rows of groups that the other table does not share. */
  *rowsBeyond(other: KindTable | undefined): Generator<Row> {
    const shared = new Set(other?.groups);
    for (const group of this.groups) if (!shared.has(group)) yield* group.rows;
  }

  bySlug(slug: string): Row | undefined {
    this.#bySlug ??= new Map(this.rows.map((row, index) => [row.slug, index]));
    return at(this.rows, this.#bySlug.get(slug));
  }
}

function hasSameNames(group: RowGroup, other: RowGroup | undefined): boolean {
  if (group === other) return true;
  return (
    group.rows.length === other?.rows.length &&
    group.rows.every(({ id, slug }, index) => {
      const row = other.rows[index];
      return id === row?.id && slug === row.slug;
    })
  );
}

function rowsOf(groups: readonly RowGroup[]): readonly Row[] {
  const rows: Row[] = [];
  for (const group of groups) for (const row of group.rows) rows.push(row);
  return rows;
}

const at = (rows: readonly Row[], index: number | undefined): Row | undefined =>
  index === undefined ? undefined : rows[index];

/** Splits rows into groups. */
export function groupRows(rows: readonly Row[]): RowGroup[] {
  const groups: RowGroup[] = [];
  for (let start = 0; start < rows.length; start += GROUP_SIZE) {
    groups.push({ rows: rows.slice(start, start + GROUP_SIZE) });
  }
  return groups;
}

export type Tables = Readonly<Record<Kind, KindTable>>;

import type { Kind } from '../../model/kinds.js';
import { type IdOrder, orderIds } from './id-order.js';
import type { Row } from './row.js';

/** Rows are stored, indexed and shared between versions in groups of at most this many. */
export const GROUP_SIZE = 1024;

/** Neighbouring rows of one kind. A group never changes; versions that differ elsewhere share it. */
export interface RowGroup {
  readonly rows: readonly Row[];
  /** Name of the object that holds it, once it is stored. */
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
    // The look-up tables hold positions: they stay right as long as the same ids stand at the same places.
    if (like !== undefined && this.#namesAlike(like)) {
      this.#byId = like.#byId;
      this.#bySlug = like.#bySlug;
      this.#idOrder = like.#idOrder;
    }
  }

  /** False also where groups are cut otherwise: to look at every row costs more than to number them. */
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

  /** Whether the same ids and slugs are known to stand at the same places. */
  hasPlacesOf(other: KindTable | undefined): boolean {
    if (other === undefined) return false;
    return other === this || (this.#byId !== undefined && this.#byId === other.#byId);
  }

  /** Rows of groups that the other table does not have. */
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

/** Cuts rows that have no groups yet. */
export function groupRows(rows: readonly Row[]): RowGroup[] {
  const groups: RowGroup[] = [];
  for (let start = 0; start < rows.length; start += GROUP_SIZE) {
    groups.push({ rows: rows.slice(start, start + GROUP_SIZE) });
  }
  return groups;
}

/** The rows of all kinds. */
export type Tables = Readonly<Record<Kind, KindTable>>;

import { invariant } from '@plinth/kernel';
import { KINDS, type Kind, mapKinds } from '../model/kinds.js';
import { normalText } from '../model/normal-text.js';
import type { StoredRecords } from '../model/schemas/stored.js';
import { type IdOrder, orderIds } from './id-order.js';
import { KIND_SPECS } from './kinds/index.js';
import { RELATED_KINDS, Relations } from './relations.js';
import { numberColumn, Row, textColumn } from './row.js';
import { compareSortKeys, sortKeyOf } from './sort-values.js';

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
    this.rows = groups.length === 1 ? (groups[0]?.rows ?? []) : groups.flatMap(({ rows }) => rows);
    // The look-up tables hold positions: they stay right as long as the same ids stand at the same places.
    if (like !== undefined && like.rows.length === this.rows.length) {
      const isSame = this.rows.every((row, index) => {
        const other = like.rows[index];
        return row === other || (row.id === other?.id && row.slug === other.slug);
      });
      if (isSame) {
        this.#byId = like.#byId;
        this.#bySlug = like.#bySlug;
        this.#idOrder = like.#idOrder;
      }
    }
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

const at = (rows: readonly Row[], index: number | undefined): Row | undefined =>
  index === undefined ? undefined : rows[index];

/** Cuts rows that have no groups yet. */
export function groupRows(rows: readonly Row[]): RowGroup[] {
  const groups: RowGroup[] = [];
  for (let start = 0; start < rows.length; start += GROUP_SIZE) {
    const part = rows.slice(start, start + GROUP_SIZE);
    Row.pack(part);
    groups.push({ rows: part });
  }
  return groups;
}

export interface DataSetAbout {
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  /** By kind: ids that were replaced, and by which. */
  readonly aliases: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
}

export type Tables = Readonly<Record<Kind, KindTable>>;

/** One state of all records, published or a draft. It never changes; what is computed from it is kept with it. */
export class DataSet {
  readonly about: DataSetAbout;
  readonly tables: Tables;
  readonly #orders = new Map<Kind, readonly number[]>();
  readonly #names = new Map<Kind, ReadonlyMap<string, readonly string[]>>();
  #relations: Relations | undefined;

  /** @param like shares what was computed from tables that both have. */
  constructor(about: DataSetAbout, tables: Tables, like?: DataSet) {
    this.about = about;
    this.tables = tables;
    if (like === undefined) return;
    for (const [kind, order] of like.#orders) {
      if (tables[kind] === like.tables[kind]) this.#orders.set(kind, order);
    }
    for (const [kind, names] of like.#names) {
      if (tables[kind] === like.tables[kind]) this.#names.set(kind, names);
    }
    const isRelatedAlike = RELATED_KINDS.every((kind) => tables[kind] === like.tables[kind]);
    if (isRelatedAlike) this.#relations = like.#relations;
  }

  static empty(about?: Partial<DataSetAbout>): DataSet {
    const tables = mapKinds(() => new KindTable([]));
    return new DataSet({ defaultLanguage: 'en', languages: ['en'], aliases: {}, ...about }, tables);
  }

  get relations(): Relations {
    this.#relations ??= new Relations(this);
    return this.#relations;
  }

  counts(): Record<Kind, number> {
    return mapKinds((kind) => this.tables[kind].rows.length);
  }

  row(kind: Kind, id: string): Row | undefined {
    return this.tables[kind].get(id);
  }

  /** The stored record; a fresh copy. */
  record<K extends Kind>(kind: K, id: string): StoredRecords[K] | undefined {
    const row = this.row(kind, id);
    return row === undefined ? undefined : (JSON.parse(row.text) as StoredRecords[K]); // rows hold checked records
  }

  /** In the default language; `null` when nothing has this id. */
  nameOf(kind: Kind, id: string): string | null {
    const row = this.row(kind, id);
    return row === undefined ? null : textColumn(row, 'name');
  }

  number(kind: Kind, id: string, column: string): number | null {
    const row = this.row(kind, id);
    return row === undefined ? null : numberColumn(row, column);
  }

  /** Positions of rows in the order of lists without `sort`. */
  defaultOrder(kind: Kind): readonly number[] {
    const known = this.#orders.get(kind);
    if (known !== undefined) return known;
    const { rows } = this.tables[kind];
    const order = rows.map((_row, index) => index);
    const { defaultSort, fields } = KIND_SPECS[kind];
    if (defaultSort !== undefined) {
      const isDescending = defaultSort.startsWith('-');
      const field = fields[isDescending ? defaultSort.slice(1) : defaultSort];
      invariant(field !== undefined, `${kind} sorts by a field it has`);
      const values = rows.map((row) => sortKeyOf(field.get(row, this)));
      order.sort(
        (a, b) => compareSortKeys(values[a] ?? null, values[b] ?? null, isDescending) || a - b,
      );
    }
    this.#orders.set(kind, order);
    return order;
  }

  /** Ids of the records that `word` means: by id, slug or name, whatever its case. */
  resolve(kind: Kind, word: string): readonly string[] {
    let names = this.#names.get(kind);
    if (names === undefined) {
      const found = new Map<string, string[]>();
      for (const row of this.tables[kind].rows) {
        const keys = new Set([
          row.id.toLowerCase(),
          row.slug,
          normalText(textColumn(row, 'name') ?? ''),
        ]);
        for (const key of keys) {
          const ids = found.get(key);
          if (ids === undefined) found.set(key, [row.id]);
          else ids.push(row.id);
        }
      }
      names = found;
      this.#names.set(kind, names);
    }
    return names.get(word.trim().toLowerCase()) ?? names.get(normalText(word)) ?? [];
  }

  /** A set with other rows in some kinds; the rest is shared. */
  with(tables: Partial<Record<Kind, readonly RowGroup[]>>, about = this.about): DataSet {
    return new DataSet(
      about,
      mapKinds((kind) => {
        const groups = tables[kind];
        return groups === undefined ? this.tables[kind] : new KindTable(groups, this.tables[kind]);
      }),
      this,
    );
  }

  isSameAs(other: DataSet): boolean {
    return KINDS.every((kind) => this.tables[kind] === other.tables[kind]);
  }
}

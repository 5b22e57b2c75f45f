import { KINDS, type Kind, mapKinds } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import { KindTable, type RowGroup, type Tables } from './kind-table.js';
import { RELATED_KINDS, Relations } from './relations.js';
import { numberColumn, type Row, textColumn } from './row.js';
import { TimeSlices } from './time-slices.js';

export interface DataSetMetadata {
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  /** By kind: replaced ids and their replacements. */
  readonly aliases: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
}

/** Maximum number of records of a kind for which a table of names is created. */
const MAX_NAMED_COUNT = 4096;

/** An immutable state of all records, published or draft. Derived data is cached with it. */
export class DataSet {
  readonly metadata: DataSetMetadata;
  readonly tables: Tables;
  readonly #names = new Map<Kind, ReadonlyMap<string, readonly string[]>>();
  #relations: Relations | undefined;

  /** @param like data set whose derived data is reused for the tables that both sets share. */
  constructor(options: DataSetMetadata, tables: Tables, like?: DataSet) {
    this.metadata = options;
    this.tables = tables;
    if (like === undefined) return;
    for (const [kind, names] of like.#names) {
      if (tables[kind] === like.tables[kind]) this.#names.set(kind, names);
    }
    const isRelatedAlike = RELATED_KINDS.every((kind) => tables[kind] === like.tables[kind]);
    if (isRelatedAlike) this.#relations = like.#relations;
  }

  static empty(options?: Partial<DataSetMetadata>): DataSet {
    const tables = mapKinds(() => new KindTable([]));
    return new DataSet(
      { defaultLanguage: 'en', languages: ['en'], aliases: {}, ...options },
      tables,
    );
  }

  get relations(): Relations {
    this.#relations ??= Relations.atOnce(this.tables);
    return this.#relations;
  }

  counts(): Record<Kind, number> {
    return mapKinds((kind) => this.tables[kind].rows.length);
  }

  row(kind: Kind, id: string): Row | undefined {
    return this.tables[kind].get(id);
  }

  /** Returns the name in the default language; `null` if no record has this id. */
  nameOf(kind: Kind, id: string): string | null {
    const row = this.row(kind, id);
    return row === undefined ? null : textColumn(row, 'name');
  }

  number(kind: Kind, id: string, column: string): number | null {
    const row = this.row(kind, id);
    return row === undefined ? null : numberColumn(row, column);
  }

  /** Computes the relations between records in time slices, before the first request needs them. */
  async prepare(): Promise<void> {
    if (this.#relations !== undefined) return;
    const relations = await Relations.inSteps(this.tables);
    this.#relations ??= relations;
  }

  /** Returns the ids of the records with this id, slug or name, ignoring case. */
  resolve(kind: Kind, idOrName: string): readonly string[] {
    if (this.tables[kind].rows.length > MAX_NAMED_COUNT) return this.#find(kind, idOrName);
    const names = this.#namesOf(kind);
    return names.get(idOrName.trim().toLowerCase()) ?? names.get(normalText(idOrName)) ?? [];
  }

  /**
   * Like `resolve` for many names at once, in time slices.
   * @param found ids by lowercase or normalized name; matching ids are added.
   */
  async collectNamed(kind: Kind, found: ReadonlyMap<string, Set<string>>): Promise<void> {
    const { rows } = this.tables[kind];
    if (rows.length <= MAX_NAMED_COUNT) {
      const names = this.#namesOf(kind);
      for (const [idOrName, ids] of found) for (const id of names.get(idOrName) ?? []) ids.add(id);
      return;
    }
    const slices = new TimeSlices();
    for (const row of rows) {
      for (const key of namesOf(row)) found.get(key)?.add(row.id);
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
  }

  #namesOf(kind: Kind): ReadonlyMap<string, readonly string[]> {
    const known = this.#names.get(kind);
    if (known !== undefined) return known;
    const found = new Map<string, string[]>();
    for (const row of this.tables[kind].rows) {
      for (const key of new Set(namesOf(row))) {
        const ids = found.get(key);
        if (ids === undefined) found.set(key, [row.id]);
        else ids.push(row.id);
      }
    }
    this.#names.set(kind, found);
    return found;
  }

  /**
   * Like `resolve`, but scans all rows. A table of all names would use too much memory for the time
   * that it saves.
   */
  #find(kind: Kind, idOrName: string): readonly string[] {
    const lower = idOrName.trim().toLowerCase();
    const normal = normalText(idOrName);
    const exact: string[] = [];
    const similar: string[] = [];
    for (const row of this.tables[kind].rows) {
      const keys = namesOf(row);
      if (keys.includes(lower)) exact.push(row.id);
      else if (keys.includes(normal)) similar.push(row.id);
    }
    return exact.length > 0 ? exact : similar;
  }

  /** Returns a set with other rows for some kinds; all other rows are shared. */
  with(tables: Partial<Record<Kind, readonly RowGroup[]>>, metadata = this.metadata): DataSet {
    return new DataSet(
      metadata,
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

/** Returns id, slug and name in normalized form. */
const namesOf = (row: Row): readonly string[] => [
  row.id.toLowerCase(),
  row.slug,
  normalText(textColumn(row, 'name') ?? ''),
];

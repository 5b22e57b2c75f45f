import type { Kind } from '../../model/kinds.js';
import type { StoredRecords } from '../../model/schemas/stored.js';
import type { DataSet } from '../data/data-set.js';
import type { Columns, Row } from '../data/row.js';

/** A reference from a record to another record. */
export interface Reference {
  /** Members and indexes from the root of the stored record. */
  readonly path: readonly (string | number)[];
  readonly kind: Kind;
  readonly id: string;
  /**
   * Repair of a missing target during an import: set the member to `null`, or drop its list entry.
   */
  readonly repair: 'null' | 'drop';
  /** Number of parts of `path` that lead to the dropped list entry; default: all. */
  readonly dropDepth?: number;
}

/** A violated rule of one record, beyond dangling references. */
export interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A field for filters, sorting and `q`. */
export type Field =
  | { readonly type: 'text'; get(row: Row, set: DataSet): string | null }
  | { readonly type: 'number'; get(row: Row, set: DataSet): number | null }
  | { readonly type: 'flag'; get(row: Row, set: DataSet): boolean }
  /** Compared as complete words, ignoring case; `values` lists the accepted words. */
  | {
      readonly type: 'words';
      readonly values?: readonly string[];
      get(row: Row, set: DataSet): readonly string[];
    }
  | { readonly type: 'caliber'; get(row: Row, set: DataSet): string | null }
  /** Ids of records of `kind`. */
  | {
      readonly type: 'relation';
      readonly kind: Kind;
      get(row: Row, set: DataSet): readonly string[];
    };

export type Filter =
  | { readonly type: 'any-of'; readonly field: string }
  | { readonly type: 'minimum' | 'maximum'; readonly field: string };

/** Context of a served record: its set, and the language of the names it embeds. */
export interface View {
  readonly set: DataSet;
  readonly nameOf: (kind: Kind, id: string) => string | null;
}

export interface LocalText {
  /** Key in `locales`: `name`, `objectives.<id>.description`. */
  readonly key: string;
  readonly value: string | null;
}

/** Everything specific to one kind. */
export interface KindSpec<K extends Kind = Kind> {
  readonly kind: K;
  /**
   * Converts a client's body, possibly from the public API, to the stored schema: resolves aliases
   * and drops read-only members.
   * The caller fills in defaults.
   */
  prepare(body: Record<string, unknown>, fault: (fault: Fault) => void): Record<string, unknown>;
  /** Pairs of paths for one value: the stored one, then its alias. */
  readonly aliases?: readonly (readonly [string, string])[];
  /** Only members that need fast access. */
  columns(record: StoredRecords[K]): Columns;
  /** Fields searched by `search`, starting with the name. */
  searchTexts(record: StoredRecords[K]): readonly (string | null)[];
  /** All translatable strings. */
  texts(record: StoredRecords[K]): readonly LocalText[];
  /** Sets a translated string; the record must be the caller's own copy. */
  setText(record: StoredRecords[K], key: string, text: string): void;
  /** Returns the public form of the record, in its current language. */
  serve(record: StoredRecords[K], view: View): Record<string, unknown>;
  references(record: StoredRecords[K]): readonly Reference[];
  /** Checks the record's own rules, and rules about other records that are not plain references. */
  check(record: StoredRecords[K], set: DataSet): readonly Fault[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly filters: Readonly<Record<string, Filter>>;
  readonly sortKeys: readonly string[];
  /** Order of lists without `sort`; `undefined` keeps the stored order. */
  readonly defaultSort?: string;
  readonly includes: Readonly<
    Record<
      string,
      { readonly kind: Kind | 'categories'; ids(row: Row, set: DataSet): readonly string[] }
    >
  >;
}

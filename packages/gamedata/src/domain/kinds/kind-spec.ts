import type { Kind } from '../../model/kinds.js';
import type { StoredRecords } from '../../model/schemas/stored.js';
import type { DataSet } from '../data/data-set.js';
import type { Columns, Row } from '../data/row.js';

/** A place in a record that names another record. */
export interface Reference {
  /** Members and positions from the root of the stored record. */
  readonly path: readonly (string | number)[];
  readonly kind: Kind;
  readonly id: string;
  /** What a repairing import does about a missing target: `null` the member, or drop the list entry it stands in. */
  readonly repair: 'null' | 'drop';
  /** How many parts of `path` lead to the list entry that is dropped; all of them unless said. */
  readonly dropDepth?: number;
}

/** What one record says about another, beyond being there: levels that must exist, names that must fit. */
export interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** What filters, sorting and `q` can ask of a row. */
export type Field =
  | { readonly type: 'text'; get(row: Row, set: DataSet): string | null }
  | { readonly type: 'number'; get(row: Row, set: DataSet): number | null }
  | { readonly type: 'flag'; get(row: Row, set: DataSet): boolean }
  /** Words compared whole and without case; `values` when only these make sense. */
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

/** What a record is served from: the set it belongs to and the language of the names it embeds. */
export interface View {
  readonly set: DataSet;
  readonly nameOf: (kind: Kind, id: string) => string | null;
}

export interface LocalText {
  /** As in `locales`: `name`, `objectives.<id>.description`. */
  readonly key: string;
  readonly value: string | null;
}

/** Everything that is particular to one kind. */
export interface KindSpec<K extends Kind = Kind> {
  readonly kind: K;
  /**
   * A body as clients send it (also one that was read from the public API) in the shape of the stored schema: aliases
   * resolved, what is read-only left out. Defaults are filled by the caller.
   */
  prepare(body: Record<string, unknown>, fault: (fault: Fault) => void): Record<string, unknown>;
  /** Two paths of one value: what is stored first, its other name second. */
  readonly aliases?: readonly (readonly [string, string])[];
  /** Only what must be quick to ask for. */
  columns(record: StoredRecords[K]): Columns;
  /** Fields that `search` looks at; the name comes first. */
  searchTexts(record: StoredRecords[K]): readonly (string | null)[];
  /** Everything that can be translated. */
  texts(record: StoredRecords[K]): readonly LocalText[];
  /** Sets translated texts; the record is the caller's own copy. */
  setText(record: StoredRecords[K], key: string, text: string): void;
  /** The record as it is served, in the texts it has. */
  serve(record: StoredRecords[K], view: View): Record<string, unknown>;
  references(record: StoredRecords[K]): readonly Reference[];
  /** Rules of the record alone and towards others that are no plain references. */
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

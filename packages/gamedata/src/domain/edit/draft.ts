import type { Clock } from '@plinth/kernel';
import type { HistoryEntry, HistoryOp, StoredDraft } from '../../model/edition.js';
import type { Kind } from '../../model/kinds.js';
import type { EditionStore } from '../../storage/edition-store.js';
import type { DataSet } from '../data/data-set.js';
import { Presenter } from '../data/public-record.js';
import { makeRow, readRow, type StoredRecord } from '../data/record-rows.js';
import type { Row } from '../data/row.js';
import { withAlias, withRow } from '../data/set-changes.js';
import type { Library } from '../library.js';
import type { DecidedChange, EditRequest, Step } from './edit-request.js';

export interface EditedRecord {
  readonly rev: number;
  readonly data: Record<string, unknown>;
}

/**
 * The records as editors see them. Every change is stored with its history before it becomes
 * visible. Use only inside a serialized write.
 */
export class Draft {
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  #set: DataSet;
  /** The set on which the changes are based. A restored record returns to its position in it. */
  #base: DataSet;
  /** Number of the change that removed each record. */
  readonly #removals = new Map<string, number>();

  constructor(deps: {
    readonly library: Library;
    readonly editions: EditionStore;
    readonly clock: Clock;
  }) {
    this.#library = deps.library;
    this.#editions = deps.editions;
    this.#clock = deps.clock;
    this.#set = deps.library.current.set;
    this.#base = this.#set;
  }

  get set(): DataSet {
    return this.#set;
  }

  /** Restores the draft from its base and its stored changes. */
  load(base: DataSet, changes: readonly StoredDraft[]): void {
    this.#set = base;
    this.#base = base;
    this.#removals.clear();
    this.applyOthers(changes, 0);
  }

  /** Applies changes of other nodes after `knownSeq`, in the order of `EditionStore.drafts`. */
  applyOthers(changes: readonly StoredDraft[], knownSeq: number): void {
    for (const { kind, id, seq, sinceSeq, body, replacedBy } of changes) {
      const row = body === null ? undefined : readRow(kind, body, seq);
      // If the record was removed and added again in the meantime, it belongs at the end, like a new record.
      const isAnew = sinceSeq > knownSeq && !this.#isOfBase(kind, id);
      if (row !== undefined && isAnew && this.#set.row(kind, id) !== undefined) {
        this.#apply({ kind, id, row: undefined, seq, replacedBy: null });
      }
      this.#apply({ kind, id, row, seq, replacedBy });
    }
  }

  #isOfBase(kind: Kind, id: string): boolean {
    return [this.#base, this.#library.current.set].some((set) => set.row(kind, id) !== undefined);
  }

  /** Sets a new base after the changes of these kinds were published, discarded or replaced. */
  replace(set: DataSet, kinds: readonly Kind[]): void {
    this.#set = set;
    this.#base = set;
    for (const key of this.#removals.keys()) {
      if (kinds.some((kind) => key.startsWith(`${kind}/`))) this.#removals.delete(key);
    }
  }

  removalOf(kind: Kind, id: string): number | undefined {
    return this.#removals.get(`${kind}/${id}`);
  }

  async put(
    { write, editRequest }: Step,
    op: HistoryOp,
    options: {
      readonly kind: Kind;
      readonly record: StoredRecord;
      readonly aboutSeq: number | null;
    },
  ): Promise<DecidedChange<EditedRecord>> {
    const { kind, record, aboutSeq } = options;
    const { seq } = write;
    const row = makeRow(kind, record, seq);
    const next = withAlias(this.#withRow(kind, row.id, row), kind, row.id, undefined);
    const edited = presentRow(next, kind, row);
    const change = { kind, id: row.id, after: row.text, replacedBy: null, aboutSeq };
    await this.#store({ write, editRequest }, this.#entry(seq, editRequest, op, change), {
      success: true,
      data: edited.data,
      rev: edited.rev,
    });
    const show = (): void => this.#apply({ kind, id: row.id, row, seq, replacedBy: null });
    return { result: edited, applyInMemory: show };
  }

  async remove(
    { write, editRequest }: Step,
    op: HistoryOp,
    options: {
      readonly kind: Kind;
      readonly id: string;
      readonly replacedBy: string | null;
      readonly aboutSeq: number | null;
    },
  ): Promise<DecidedChange<void>> {
    const { kind, id, replacedBy, aboutSeq } = options;
    const { seq } = write;
    const change = { kind, id, after: null, replacedBy, aboutSeq };
    await this.#store({ write, editRequest }, this.#entry(seq, editRequest, op, change), {
      success: true,
    });
    const show = (): void => this.#apply({ kind, id, row: undefined, seq, replacedBy });
    return { result: undefined, applyInMemory: show };
  }

  #withRow(kind: Kind, id: string, row: Row | undefined): DataSet {
    const published = this.#library.current.set;
    const base = this.#base.row(kind, id) === undefined ? published : this.#base;
    return withRow(this.#set, kind, id, row, base);
  }

  #entry(
    seq: number,
    { actor }: EditRequest,
    op: HistoryOp,
    change: {
      readonly kind: Kind;
      readonly id: string;
      readonly after: string | null;
      readonly replacedBy: string | null;
      readonly aboutSeq: number | null;
    },
  ): HistoryEntry & { readonly kind: Kind; readonly id: string } {
    const before = this.#set.row(change.kind, change.id)?.text ?? null;
    return { seq, atMs: this.#clock.nowMs(), actor, op, before, version: null, ...change };
  }

  async #store(
    { write: { tx, seq }, editRequest }: Step,
    entry: HistoryEntry & { readonly kind: Kind; readonly id: string },
    reply: unknown,
  ): Promise<void> {
    const { kind, id, after: body, replacedBy } = entry;
    await this.#editions.history.add(tx, entry);
    await this.#editions.putDraft(tx, { kind, id, seq, body, replacedBy });
    await editRequest.storeReply?.(tx, reply);
  }

  /** Changes the records in memory. */
  #apply(options: {
    readonly kind: Kind;
    readonly id: string;
    readonly row: Row | undefined;
    readonly seq: number;
    readonly replacedBy: string | null;
  }): void {
    const { kind, id, row, seq, replacedBy } = options;
    this.#set = withAlias(this.#withRow(kind, id, row), kind, id, replacedBy ?? undefined);
    if (row === undefined) this.#removals.set(`${kind}/${id}`, seq);
    else this.#removals.delete(`${kind}/${id}`);
  }
}

export function presentRow(set: DataSet, kind: Kind, row: Row): EditedRecord {
  return { rev: row.rev, data: new Presenter(set, 'all').present(kind, row, true) };
}

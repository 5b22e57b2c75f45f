import type { Clock } from '@plinth/kernel';
import type { DraftRecord, HistoryEntry, HistoryOp } from '../../model/edition.js';
import type { Kind } from '../../model/kinds.js';
import type { EditionStore, EditionTransaction } from '../../storage/edition-store.js';
import type { DataSet } from '../data/data-set.js';
import { Presenter } from '../data/public-record.js';
import { makeRow, readRow, type StoredRecord } from '../data/record-rows.js';
import type { Row } from '../data/row.js';
import { withAlias, withRow } from '../data/set-changes.js';
import type { Library } from '../library.js';

/** One request of an editor. */
export interface Attempt {
  readonly actor: string;
  /** Stores the reply in the transaction of the change, so that the same request gets it again. */
  readonly keep?: (tx: EditionTransaction, reply: unknown) => Promise<void>;
}

export interface EditedRecord {
  readonly rev: number;
  readonly data: Record<string, unknown>;
}

/** The records as editors see them. Every change is stored with its history before it shows. Only inside `Library.alone`. */
export class Draft {
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  #set: DataSet;
  /** What the changes lead away from: whoever comes back stands where it stood there. */
  #base: DataSet;
  /** Number of the change that removed a record. */
  readonly #removals = new Map<string, number>();

  constructor(needs: {
    readonly library: Library;
    readonly editions: EditionStore;
    readonly clock: Clock;
  }) {
    this.#library = needs.library;
    this.#editions = needs.editions;
    this.#clock = needs.clock;
    this.#set = needs.library.current.set;
    this.#base = this.#set;
  }

  get set(): DataSet {
    return this.#set;
  }

  /** As it was left: what was stored of it, on its base. */
  load(base: DataSet, changes: readonly DraftRecord[]): void {
    this.#set = base;
    this.#base = base;
    for (const { kind, id, seq, body, replacedBy } of changes) {
      const row = body === null ? undefined : readRow(kind, body, seq);
      this.#show({ kind, id, row, seq, replacedBy });
    }
  }

  /** Its changes of these kinds are history. */
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
    attempt: Attempt,
    op: HistoryOp,
    at: {
      readonly kind: Kind;
      readonly record: StoredRecord;
      readonly aboutSeq: number | null;
    },
  ): Promise<EditedRecord> {
    const { kind, record, aboutSeq } = at;
    const seq = this.#library.nextSeq();
    const row = makeRow(kind, record, seq);
    const next = withAlias(this.#withRow(kind, row.id, row), kind, row.id, undefined);
    const edited = presentRow(next, kind, row);
    await this.#store({
      attempt,
      entry: this.#entry(seq, attempt, op, {
        kind,
        id: row.id,
        after: row.text,
        replacedBy: null,
        aboutSeq,
      }),
      reply: { success: true, data: edited.data, rev: edited.rev },
    });
    this.#show({ kind, id: row.id, row, seq, replacedBy: null });
    return edited;
  }

  async remove(
    attempt: Attempt,
    op: HistoryOp,
    at: {
      readonly kind: Kind;
      readonly id: string;
      readonly replacedBy: string | null;
      readonly aboutSeq: number | null;
    },
  ): Promise<void> {
    const { kind, id, replacedBy, aboutSeq } = at;
    const seq = this.#library.nextSeq();
    await this.#store({
      attempt,
      entry: this.#entry(seq, attempt, op, { kind, id, after: null, replacedBy, aboutSeq }),
      reply: { success: true },
    });
    this.#show({ kind, id, row: undefined, seq, replacedBy });
  }

  #withRow(kind: Kind, id: string, row: Row | undefined): DataSet {
    const published = this.#library.current.set;
    const base = this.#base.row(kind, id) === undefined ? published : this.#base;
    return withRow(this.#set, kind, id, row, base);
  }

  #entry(
    seq: number,
    { actor }: Attempt,
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

  /** Durable when it resolves. */
  async #store(at: {
    readonly attempt: Attempt;
    readonly entry: HistoryEntry & { readonly kind: Kind; readonly id: string };
    readonly reply: unknown;
  }): Promise<void> {
    const { seq, kind, id, after, replacedBy } = at.entry;
    await this.#editions.transaction(async (tx) => {
      await this.#editions.history.add(tx, at.entry);
      await this.#editions.putDraft(tx, { kind, id, seq, body: after, replacedBy });
      await this.#editions.putState(tx, { lastSeq: seq });
      await at.attempt.keep?.(tx, at.reply);
    });
  }

  #show(at: {
    readonly kind: Kind;
    readonly id: string;
    readonly row: Row | undefined;
    readonly seq: number;
    readonly replacedBy: string | null;
  }): void {
    const { kind, id, row, seq, replacedBy } = at;
    this.#set = withAlias(this.#withRow(kind, id, row), kind, id, replacedBy ?? undefined);
    if (row === undefined) this.#removals.set(`${kind}/${id}`, seq);
    else this.#removals.delete(`${kind}/${id}`);
  }
}

export function presentRow(set: DataSet, kind: Kind, row: Row): EditedRecord {
  return { rev: row.rev, data: new Presenter(set, 'all').present(kind, row, true) };
}

import { gameDataError } from '../../errors.js';
import { type HistoryEntry, NO_VERSION } from '../../model/edition.js';
import type { EditionReader, EditionStore } from '../../storage/edition-store.js';
import { parseRow, readRow } from '../data/record-rows.js';
import type { Draft } from './draft.js';
import type { DecidedChange, EditRequest, Step } from './edit-request.js';
import type { SerializedWrites } from './serialized-writes.js';

const MAX_LOOK_BACK = 500;

/** Undoes and redoes changes of the draft. */
export class Undoing {
  readonly #turns: SerializedWrites;
  readonly #editions: EditionStore;
  readonly #draft: Draft;

  constructor(deps: {
    readonly writes: SerializedWrites;
    readonly editions: EditionStore;
    readonly draft: Draft;
  }) {
    this.#turns = deps.writes;
    this.#editions = deps.editions;
    this.#draft = deps.draft;
  }

  /** Undoes one of the actor's unpublished changes: the last one, or the one with this number. */
  async undo(editRequest: EditRequest, seq: number | undefined): Promise<HistoryEntry> {
    return await this.#turns.changeRecord(editRequest, async (write) => {
      const entry =
        seq === undefined
          ? await this.#lastToUndo(editRequest.actor, write.tx)
          : await this.#entryOf(seq, write.tx);
      refuseClosed(entry);
      if (entry.op === 'import' || entry.kind === null) {
        throw gameDataError('conflict', {
          message: `change ${entry.seq} cannot be undone; only a change to a single record can be undone`,
        });
      }
      return await this.#turn({ write, editRequest }, 'undo', entry, entry.before);
    });
  }

  /** Redoes the last undone change. */
  async redo(editRequest: EditRequest, seq: number | undefined): Promise<HistoryEntry> {
    return await this.#turns.changeRecord(editRequest, async (write) => {
      let undone: HistoryEntry | undefined;
      if (seq !== undefined) undone = await this.#entryOf(seq, write.tx);
      else {
        const open = await this.#editions.history.openEntries(
          editRequest.actor,
          MAX_LOOK_BACK,
          write.tx,
        );
        const redone = new Set(
          open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq),
        );
        const last = open.find((entry) => entry.op === 'undo' && !redone.has(entry.seq));
        undone = last && (await this.#entryOf(last.seq, write.tx));
      }
      if (undone === undefined || undone.op !== 'undo')
        throw gameDataError('conflict', { message: 'nothing to redo' });
      refuseClosed(undone);
      return await this.#turn({ write, editRequest }, 'redo', undone, undone.before);
    });
  }

  async #lastToUndo(actor: string, on: EditionReader): Promise<HistoryEntry> {
    const open = await this.#editions.history.openEntries(actor, MAX_LOOK_BACK, on);
    const undone = new Set<number | null>();
    const redone = new Set(open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq));
    for (const { op, seq, aboutSeq } of open) {
      if (op === 'undo' && !redone.has(seq)) undone.add(aboutSeq);
    }
    const found = open.find(
      ({ op, seq }) => op !== 'undo' && op !== 'redo' && op !== 'import' && !undone.has(seq),
    );
    if (found === undefined) throw gameDataError('conflict', { message: 'nothing to undo' });
    return await this.#entryOf(found.seq, on);
  }

  async #entryOf(seq: number, on: EditionReader): Promise<HistoryEntry> {
    const entry = await this.#editions.history.entry(seq, on);
    if (entry === undefined) throw gameDataError('not_found', `unknown change ${seq}`);
    return entry;
  }

  /**
   * Restores the record of a history entry to another state, unless it was changed after that
   * entry.
   */
  async #turn(
    step: Step,
    op: 'undo' | 'redo',
    entry: HistoryEntry,
    body: string | null,
  ): Promise<DecidedChange<HistoryEntry>> {
    const { kind, id } = entry;
    if (kind === null || id === null)
      throw gameDataError('conflict', {
        message: `change ${entry.seq} is not a change to a single record`,
      });
    const row = this.#draft.set.row(kind, id);
    const rev = row?.rev ?? this.#draft.removalOf(kind, id);
    // Undoing gives the record a new number although its text is unchanged, so the text is also compared.
    const isUnchanged = rev === entry.seq || (row?.text ?? null) === entry.after;
    if (!isUnchanged)
      throw gameDataError('conflict', {
        message: `record ${id} was changed after change ${entry.seq}`,
      });
    let decided: DecidedChange<unknown>;
    if (body === null) {
      const change = { kind, id, replacedBy: null, aboutSeq: entry.seq };
      decided = await this.#draft.remove(step, op, change);
    } else {
      const record = readRow(kind, body, 0);
      const other = this.#draft.set.tables[kind].bySlug(record.slug);
      if (other !== undefined && other.id !== id) {
        throw gameDataError('conflict', {
          message: `slug "${record.slug}" is already used by record ${other.id}`,
        });
      }
      const stored = parseRow(kind, record);
      const change = { kind, record: stored, aboutSeq: entry.seq };
      decided = await this.#draft.put(step, op, change);
    }
    const { tx, seq } = step.write;
    const latest = await this.#editions.history.entry(seq, tx);
    return { ...decided, result: latest ?? entry };
  }
}

function refuseClosed({ seq, version }: HistoryEntry): void {
  if (version === null) return;
  throw gameDataError('conflict', {
    message: `change ${seq} ${version === NO_VERSION ? 'was discarded' : 'is published'}`,
  });
}

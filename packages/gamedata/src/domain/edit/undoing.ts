import { gameDataError } from '../../errors.js';
import { type HistoryEntry, NO_VERSION } from '../../model/edition.js';
import type { EditionStore } from '../../storage/edition-store.js';
import { parseRow, readRow } from '../data/record-rows.js';
import type { Library } from '../library.js';
import type { Attempt, Draft } from './draft.js';

const MAX_LOOK_BACK = 500;

/** Takes changes of the draft back, and does them again. */
export class Undoing {
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #draft: Draft;

  constructor(needs: {
    readonly library: Library;
    readonly editions: EditionStore;
    readonly draft: Draft;
  }) {
    this.#library = needs.library;
    this.#editions = needs.editions;
    this.#draft = needs.draft;
  }

  /** Takes back an own change that is not published: the last one, or the one with this number. */
  async undo(attempt: Attempt, seq: number | undefined): Promise<HistoryEntry> {
    return await this.#library.alone(async () => {
      const entry =
        seq === undefined ? await this.#lastToUndo(attempt.actor) : await this.#entryOf(seq);
      refuseClosed(entry);
      if (entry.op === 'import' || entry.kind === null) {
        throw gameDataError('conflict', { message: `change ${entry.seq} cannot be undone` });
      }
      return await this.#turn(attempt, 'undo', entry, entry.before);
    });
  }

  /** Does again what was undone last. */
  async redo(attempt: Attempt, seq: number | undefined): Promise<HistoryEntry> {
    return await this.#library.alone(async () => {
      let undone: HistoryEntry | undefined;
      if (seq !== undefined) undone = await this.#entryOf(seq);
      else {
        const open = await this.#editions.history.openEntries(attempt.actor, MAX_LOOK_BACK);
        const redone = new Set(
          open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq),
        );
        undone = open.find((entry) => entry.op === 'undo' && !redone.has(entry.seq));
      }
      if (undone === undefined || undone.op !== 'undo')
        throw gameDataError('conflict', { message: 'nothing to redo' });
      refuseClosed(undone);
      return await this.#turn(attempt, 'redo', undone, undone.before);
    });
  }

  async #lastToUndo(actor: string): Promise<HistoryEntry> {
    const open = await this.#editions.history.openEntries(actor, MAX_LOOK_BACK);
    const undone = new Set<number | null>();
    const redone = new Set(open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq));
    for (const { op, seq, aboutSeq } of open) {
      if (op === 'undo' && !redone.has(seq)) undone.add(aboutSeq);
    }
    const found = open.find(
      ({ op, seq }) => op !== 'undo' && op !== 'redo' && op !== 'import' && !undone.has(seq),
    );
    if (found === undefined) throw gameDataError('conflict', { message: 'nothing to undo' });
    return found;
  }

  async #entryOf(seq: number): Promise<HistoryEntry> {
    const entry = await this.#editions.history.entry(seq);
    if (entry === undefined) throw gameDataError('not_found', `there is no change ${seq}`);
    return entry;
  }

  /** Puts the record of an entry into another state, unless it was changed after that entry. */
  async #turn(
    attempt: Attempt,
    op: 'undo' | 'redo',
    entry: HistoryEntry,
    body: string | null,
  ): Promise<HistoryEntry> {
    const { kind, id } = entry;
    if (kind === null || id === null)
      throw gameDataError('conflict', { message: 'nothing to change' });
    const row = this.#draft.set.row(kind, id);
    const rev = row?.rev ?? this.#draft.removalOf(kind, id);
    // Undoing gives the record a new number while it is what it was: its text says so.
    const isUntouched = rev === entry.seq || (row?.text ?? null) === entry.after;
    if (!isUntouched)
      throw gameDataError('conflict', {
        message: `record ${id} was changed after change ${entry.seq}`,
      });
    if (body === null) {
      await this.#draft.remove(attempt, op, { kind, id, replacedBy: null, aboutSeq: entry.seq });
    } else {
      const record = readRow(kind, body, 0);
      const other = this.#draft.set.tables[kind].bySlug(record.slug);
      if (other !== undefined && other.id !== id) {
        throw gameDataError('conflict', { message: `slug ${record.slug} is taken by ${other.id}` });
      }
      const stored = parseRow(kind, record);
      await this.#draft.put(attempt, op, { kind, record: stored, aboutSeq: entry.seq });
    }
    const [latest] = (await this.#editions.history.page({ kind, id }, { limit: 1, offset: 0 }))
      .entries;
    return latest ?? entry;
  }
}

function refuseClosed({ seq, version }: HistoryEntry): void {
  if (version === null) return;
  throw gameDataError('conflict', {
    message: `change ${seq} ${version === NO_VERSION ? 'was discarded' : 'is published'}`,
  });
}

import type { Clock, Random } from '@plinth/kernel';
import {
  EditConflict,
  PreconditionFailed,
  PreconditionRequired,
  RecordNotFound,
  ValidationFailed,
} from '../../errors.js';
import type { DraftRecord, HistoryEntry, HistoryOp } from '../../model/edition.js';
import { isSameJson, pointerOf } from '../../model/json.js';
import { mergePatch } from '../../model/json-patch.js';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { freeSlug } from '../../model/normal-text.js';
import type {
  EditionStore,
  EditionTransaction,
  HistoryFilter,
} from '../../storage/edition-store.js';
import type { DataSet } from '../data-set.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { Library, Published } from '../library.js';
import { Presenter } from '../public-record.js';
import { makeRow, parseRow, prepareRecord, readRow, type StoredRecord } from '../record-rows.js';
import type { Row } from '../row.js';
import { diffSets, takeKinds, withAlias, withRow } from '../set-changes.js';
import { type RecordFault, validateSet } from '../validation.js';
import { settleAliases } from './aliases.js';

/** One request of an editor. */
export interface Attempt {
  readonly actor: string;
  /** Stores the reply in the transaction of the change, so that the same request gets it again. */
  readonly keep?: (tx: EditionTransaction, reply: unknown) => Promise<void>;
}

/** The state that the editor believes the record to be in. */
export interface Precondition {
  /** Numbers of `If-Match`; `*`: whatever it is; `undefined`: not said. */
  readonly ifMatch: readonly number[] | '*' | undefined;
}

export interface EditedRecord {
  readonly rev: number;
  readonly data: Record<string, unknown>;
}

const MAX_REFERRERS = 50;
const MAX_UNDO_LOOK_BACK = 500;

/** Changes records in a draft that nobody but editors sees, and publishes it. Source: gamedata, section 6. */
export class Editor {
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #requireIfMatch: boolean;
  #draft: DataSet;
  /** Number of the change that removed a record of the draft. */
  #removals = new Map<string, number>();

  constructor(needs: {
    readonly library: Library;
    readonly editions: EditionStore;
    readonly clock: Clock;
    readonly random: Random;
    readonly requireIfMatch: boolean;
  }) {
    this.#library = needs.library;
    this.#editions = needs.editions;
    this.#clock = needs.clock;
    this.#random = needs.random;
    this.#requireIfMatch = needs.requireIfMatch;
    this.#draft = needs.library.current.set;
  }

  /** The draft as it was left: what was stored of it, on its base. */
  load(base: DataSet, changes: readonly DraftRecord[]): void {
    this.#draft = base;
    for (const { kind, id, seq, body, replacedBy } of changes) {
      const row = body === null ? undefined : readRow(kind, body, seq);
      this.#show({ kind, id, row, seq, replacedBy });
    }
  }

  get draft(): DataSet {
    return this.#draft;
  }

  /** Only inside `Library.alone`. */
  replaceDraft(set: DataSet): void {
    this.#draft = set;
    this.#removals.clear();
  }

  /** Throws `RecordNotFound`. */
  read(kind: Kind, id: string, isPublished: boolean): EditedRecord {
    const set = isPublished ? this.#library.current.set : this.#draft;
    const row = set.row(kind, id);
    if (row === undefined) throw new RecordNotFound(KIND_WIRE[kind].notFound);
    return this.#present(set, kind, row);
  }

  #present(set: DataSet, kind: Kind, row: Row): EditedRecord {
    return { rev: row.rev, data: new Presenter(set, 'all').present(kind, row, true) };
  }

  async create(
    attempt: Attempt,
    kind: Kind,
    body: Record<string, unknown>,
    options: { readonly generateId: boolean },
  ): Promise<EditedRecord> {
    return await this.#library.alone(async () => {
      const given = body['id'];
      const isGenerated = options.generateId && given === undefined;
      const own = isGenerated ? { ...body, id: this.#newId() } : body;
      if (own['id'] === undefined && kind !== 'levels') {
        const fault = { path: '/id', code: 'required', message: 'id is missing' };
        throw new ValidationFailed('id is missing', [fault]);
      }
      const record = this.#prepare(kind, own, undefined);
      if (this.#draft.row(kind, record.id) !== undefined) {
        throw new EditConflict(`there is a record ${record.id} already`);
      }
      return await this.#put(attempt, 'create', { kind, record, replacedBy: null, aboutSeq: null });
    });
  }

  async replace(
    attempt: Attempt,
    at: { readonly kind: Kind; readonly id: string } & Precondition,
    body: Record<string, unknown>,
  ): Promise<EditedRecord> {
    return await this.#update(attempt, at, () => body);
  }

  async patch(
    attempt: Attempt,
    at: { readonly kind: Kind; readonly id: string } & Precondition,
    patch: Record<string, unknown>,
  ): Promise<EditedRecord> {
    return await this.#update(
      attempt,
      at,
      (current) => mergePatch(current, patch) as Record<string, unknown>, // an object merged with an object
    );
  }

  async #update(
    attempt: Attempt,
    at: { readonly kind: Kind; readonly id: string } & Precondition,
    change: (current: Record<string, unknown>) => Record<string, unknown>,
  ): Promise<EditedRecord> {
    const { kind, id } = at;
    return await this.#library.alone(async () => {
      const row = this.#existing(at);
      const current = this.#present(this.#draft, kind, row).data;
      const body = change(current);
      if (body['id'] !== undefined && body['id'] !== id) {
        const fault = { path: '/id', code: 'contradiction', message: `the path says ${id}` };
        throw new ValidationFailed('the id of the body is not that of the path', [fault]);
      }
      const settled = settleAliases(KIND_SPECS[kind], { ...body, id }, current);
      const record = this.#prepare(kind, settled, row);
      const before = parseRow(kind, row);
      if (isSameJson({ ...record, updatedAt: '' }, { ...before, updatedAt: '' })) {
        const same = this.#present(this.#draft, kind, row);
        await this.#editions.transaction(async (tx) => {
          await attempt.keep?.(tx, { success: true, data: same.data });
        });
        return same;
      }
      return await this.#put(attempt, 'update', { kind, record, replacedBy: null, aboutSeq: null });
    });
  }

  /** Throws `EditConflict` when other records name this one, unless `force`. */
  async delete(
    attempt: Attempt,
    at: { readonly kind: Kind; readonly id: string } & Precondition,
    options: { readonly force: boolean; readonly replacedBy: string | undefined },
  ): Promise<void> {
    const { kind, id } = at;
    await this.#library.alone(async () => {
      this.#existing(at);
      const { replacedBy } = options;
      if (replacedBy !== undefined && (replacedBy === id || !this.#draft.row(kind, replacedBy))) {
        throw new EditConflict(`replacedBy: there is no other record ${replacedBy}`);
      }
      if (!options.force) this.#refuseIfNamed(kind, id);
      await this.#remove(attempt, 'delete', {
        kind,
        id,
        replacedBy: replacedBy ?? null,
        aboutSeq: null,
      });
    });
  }

  #existing(at: { readonly kind: Kind; readonly id: string } & Precondition): Row {
    const row = this.#draft.row(at.kind, at.id);
    if (row === undefined) {
      if (at.ifMatch !== undefined) throw new PreconditionFailed({ rev: undefined });
      throw new RecordNotFound(KIND_WIRE[at.kind].notFound);
    }
    if (at.ifMatch === undefined) {
      if (this.#requireIfMatch) throw new PreconditionRequired();
    } else if (at.ifMatch !== '*' && !at.ifMatch.includes(row.rev)) {
      throw new PreconditionFailed({ rev: row.rev });
    }
    return row;
  }

  #refuseIfNamed(kind: Kind, id: string): void {
    const referrers: RecordFault[] = [];
    const quoted = JSON.stringify(id);
    for (const other of KINDS) {
      for (const row of this.#draft.tables[other].rows) {
        if (!row.mentions(quoted) || (other === kind && row.id === id)) continue;
        for (const reference of KIND_SPECS[other].references(parseRow(other, row))) {
          if (reference.kind !== kind || reference.id !== id) continue;
          referrers.push({
            type: KIND_WIRE[other].typeKey,
            id: row.id,
            path: pointerOf(reference.path),
            code: 'referenced',
            message: `${other} ${row.id} names this record`,
          });
          if (referrers.length >= MAX_REFERRERS) break;
        }
        if (referrers.length >= MAX_REFERRERS) break;
      }
    }
    if (referrers.length > 0) {
      throw new EditConflict('other records name this one', referrers.slice(0, MAX_REFERRERS));
    }
  }

  /** The body as a record of the draft. Throws `ValidationFailed`. */
  #prepare(kind: Kind, body: Record<string, unknown>, current: Row | undefined): StoredRecord {
    const updatedAt = new Date(this.#clock.nowMs()).toISOString();
    const prepared = prepareRecord(kind, body, {
      updatedAt,
      ...(current !== undefined && { slug: current.slug }),
    });
    if (prepared.record === undefined) {
      throw new ValidationFailed(
        `the record is not valid: ${prepared.faults[0]?.path ?? ''} ${prepared.faults[0]?.message ?? ''}`.trim(),
        prepared.faults,
      );
    }
    const { record } = prepared;
    const { languages } = this.#draft.about;
    const unknown = Object.keys(record.locales).filter((language) => !languages.includes(language));
    if (unknown.length > 0) {
      throw new ValidationFailed(
        `the data set has no language ${unknown.join(', ')}`,
        unknown.map((language) => ({
          path: pointerOf(['locales', language]),
          code: 'unknown_language',
          message: `languages of the data set: ${languages.join(', ')}`,
        })),
      );
    }
    const table = this.#draft.tables[kind];
    const isTaken = (slug: string): boolean => {
      const other = table.bySlug(slug);
      return other !== undefined && other.id !== record.id;
    };
    const source = current === undefined ? undefined : parseRow(kind, current).source;
    return {
      ...record,
      slug: freeSlug(record.slug, isTaken),
      ...(source !== undefined && { source }),
    };
  }

  #newId(): string {
    return Buffer.from(this.#random.bytes(12)).toString('hex');
  }

  async #put(
    attempt: Attempt,
    op: HistoryOp,
    at: {
      readonly kind: Kind;
      readonly record: StoredRecord;
      readonly replacedBy: null;
      readonly aboutSeq: number | null;
    },
  ): Promise<EditedRecord> {
    const { kind, record, aboutSeq } = at;
    const seq = this.#library.nextSeq();
    const row = makeRow(kind, record, seq);
    const next = withAlias(withRow(this.#draft, kind, row.id, row), kind, row.id, undefined);
    const edited = this.#present(next, kind, row);
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

  async #remove(
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
    const before = this.#draft.row(change.kind, change.id)?.text ?? null;
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
      await this.#editions.addHistory(tx, at.entry);
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
    this.#draft = withAlias(withRow(this.#draft, kind, id, row), kind, id, replacedBy ?? undefined);
    if (row === undefined) this.#removals.set(`${kind}/${id}`, seq);
    else this.#removals.delete(`${kind}/${id}`);
  }

  /** Takes back an own change that is not published: the last one, or the one with this number. */
  async undo(attempt: Attempt, seq: number | undefined): Promise<HistoryEntry> {
    return await this.#library.alone(async () => {
      const entry =
        seq === undefined ? await this.#lastToUndo(attempt.actor) : await this.#entryOf(seq);
      if (entry.version !== null) throw new EditConflict(`change ${entry.seq} is published`);
      if (entry.op === 'import' || entry.kind === null) {
        throw new EditConflict(`change ${entry.seq} cannot be undone`);
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
        const open = await this.#editions.openEntries(attempt.actor, MAX_UNDO_LOOK_BACK);
        const redone = new Set(
          open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq),
        );
        undone = open.find((entry) => entry.op === 'undo' && !redone.has(entry.seq));
      }
      if (undone === undefined || undone.op !== 'undo') throw new EditConflict('nothing to redo');
      if (undone.version !== null) throw new EditConflict(`change ${undone.seq} is published`);
      return await this.#turn(attempt, 'redo', undone, undone.before);
    });
  }

  async #lastToUndo(actor: string): Promise<HistoryEntry> {
    const open = await this.#editions.openEntries(actor, MAX_UNDO_LOOK_BACK);
    const undone = new Set<number | null>();
    const redone = new Set(open.filter(({ op }) => op === 'redo').map(({ aboutSeq }) => aboutSeq));
    for (const { op, seq, aboutSeq } of open) {
      if (op === 'undo' && !redone.has(seq)) undone.add(aboutSeq);
    }
    const found = open.find(
      ({ op, seq }) => op !== 'undo' && op !== 'redo' && op !== 'import' && !undone.has(seq),
    );
    if (found === undefined) throw new EditConflict('nothing to undo');
    return found;
  }

  async #entryOf(seq: number): Promise<HistoryEntry> {
    const entry = await this.#editions.historyEntry(seq);
    if (entry === undefined) throw new RecordNotFound(`there is no change ${seq}`);
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
    if (kind === null || id === null) throw new EditConflict('nothing to change');
    const row = this.#draft.row(kind, id);
    const rev = row?.rev ?? this.#removals.get(`${kind}/${id}`);
    // Undoing gives the record a new number while it is what it was: its text says so.
    const isUntouched = rev === entry.seq || (row?.text ?? null) === entry.after;
    if (!isUntouched) throw new EditConflict(`record ${id} was changed after change ${entry.seq}`);
    if (body === null) {
      await this.#remove(attempt, op, { kind, id, replacedBy: null, aboutSeq: entry.seq });
    } else {
      const { record } = { record: readRow(kind, body, 0) };
      const other = this.#draft.tables[kind].bySlug(record.slug);
      if (other !== undefined && other.id !== id) {
        throw new EditConflict(`slug ${record.slug} is taken by ${other.id}`);
      }
      const stored = parseRow(kind, record);
      await this.#put(attempt, op, { kind, record: stored, replacedBy: null, aboutSeq: entry.seq });
    }
    const [latest] = (await this.#editions.history({ kind, id }, { limit: 1, offset: 0 })).entries;
    return latest ?? entry;
  }

  /** Publishes the draft, or one kind of it. Throws `ValidationFailed`. */
  async save(
    attempt: Attempt,
    kinds: readonly Kind[],
    message: string,
    describe: (published: Published) => unknown,
  ): Promise<Published> {
    return await this.#library.alone(async () => {
      const set = takeKinds(this.#library.current.set, this.#draft, kinds);
      const draft = this.#draft;
      const published = await this.#library.publish(set, {
        actor: attempt.actor,
        message,
        source: 'editor',
        action: 'published',
        op: 'publish',
        kinds,
        draft,
        also: async (tx, result) => await attempt.keep?.(tx, describe(result)),
      });
      for (const key of this.#removals.keys()) {
        if (kinds.some((kind) => key.startsWith(`${kind}/`))) this.#removals.delete(key);
      }
      return published;
    });
  }

  /** Makes the draft what is published. @returns how many records were changed back. */
  async discard(attempt: Attempt, kinds: readonly Kind[]): Promise<number> {
    return await this.#library.alone(async () => {
      const { set } = this.#library.current;
      const next = takeKinds(this.#draft, set, kinds);
      const discarded = diffSets(this.#draft, next).length;
      const draftManifest = next.isSameAs(set) ? null : await this.#baseWithout(kinds);
      await this.#editions.transaction(async (tx) => {
        await this.#editions.dropDrafts(tx, kinds);
        const lastSeq = this.#library.nextSeq();
        await this.#editions.putState(tx, {
          lastSeq,
          ...(draftManifest !== undefined && { draftManifest }),
        });
        await attempt.keep?.(tx, { success: true, discarded });
      });
      this.#draft = next;
      for (const key of this.#removals.keys()) {
        if (kinds.some((kind) => key.startsWith(`${kind}/`))) this.#removals.delete(key);
      }
      return discarded;
    });
  }

  /** The base of the draft with some kinds as they are published; `undefined`: it is the published version. */
  async #baseWithout(kinds: readonly Kind[]) {
    const { draftManifest } = await this.#editions.state();
    if (draftManifest === undefined) return undefined;
    const { manifest } = this.#library.current.version;
    const groups = { ...draftManifest.groups };
    const aliases = { ...draftManifest.aliases };
    for (const kind of kinds) {
      groups[kind] = manifest.groups[kind];
      const own = manifest.aliases[kind];
      if (own === undefined) delete aliases[kind];
      else aliases[kind] = own;
    }
    return { ...draftManifest, groups, aliases };
  }

  /** Newest first. */
  async history(filter: HistoryFilter, page: { readonly limit: number; readonly offset: number }) {
    return await this.#editions.history(filter, page);
  }

  async validate(kinds: readonly Kind[]): Promise<readonly RecordFault[]> {
    return await validateSet(this.#draft, { kinds });
  }

  /** Makes version `number` the newest again, as a new version; unpublished changes are dropped. */
  async restore(
    attempt: Attempt,
    number: number,
    describe: (published: Published) => unknown,
  ): Promise<Published> {
    return await this.#library.alone(async () => {
      const { set } = await this.#library.edition(number);
      const published = await this.#library.publish(set, {
        actor: attempt.actor,
        message: `restored version ${number}`,
        source: 'restore',
        action: 'restored',
        op: 'restore',
        kinds: KINDS,
        draft: set,
        also: async (tx, result) => {
          // A version equal to the current one is no publication, but drafts go all the same.
          await this.#editions.dropDrafts(tx, KINDS);
          const lastSeq = this.#library.nextSeq();
          await this.#editions.putState(tx, { lastSeq, draftManifest: null });
          await attempt.keep?.(tx, describe(result));
        },
      });
      this.replaceDraft(this.#library.current.set);
      return published;
    });
  }

  /** How many records of each kind differ from what is published. */
  changedCounts(): Record<Kind, number> {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>; // all kinds
    for (const { kind } of diffSets(this.#library.current.set, this.#draft)) counts[kind] += 1;
    return counts;
  }
}

import type { RelationalStore } from '@plinth/kernel';
import type { Selectable, Transaction } from 'kysely';
import {
  type ChangeCounts,
  type DraftRecord,
  type HistoryEntry,
  type HistoryOp,
  type KeptReply,
  type Manifest,
  NO_VERSION,
  type Version,
} from '../model/edition.js';
import type { Kind } from '../model/kinds.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

export type EditionTransaction = Transaction<GameDataTables>;

export interface HistoryFilter {
  readonly kind?: Kind | undefined;
  readonly id?: string | undefined;
  readonly actor?: string | undefined;
  readonly op?: HistoryOp | undefined;
}

const STATE_ID = 1;
/** Old changes go a few at a time, because a transaction holds up all who write. */
const FORGET_AT_ONCE = 200;
/** What is left goes with the next publications. */
const MAX_FORGET_ROUNDS = 50;

/** Versions, drafts and history in the relational store. */
export class EditionStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async migrate(): Promise<void> {
    await this.#store.migrate('gamedata', GAMEDATA_MIGRATIONS);
  }

  async transaction<T>(work: (tx: EditionTransaction) => Promise<T>): Promise<T> {
    return await this.#store.transaction<GameDataTables, T>(work);
  }

  /** All versions that are kept, oldest first. */
  async versions(): Promise<Version[]> {
    const rows = await this.#reader()
      .selectFrom('gamedata_versions')
      .selectAll()
      .orderBy('version')
      .execute();
    return rows.map(versionOf);
  }

  async state(): Promise<{
    readonly draftManifest: Manifest | undefined;
    readonly lastSeq: number;
  }> {
    const row = await this.#reader()
      .selectFrom('gamedata_state')
      .selectAll()
      .where('id', '=', STATE_ID)
      .executeTakeFirst();
    return {
      draftManifest: row?.draft_manifest ? (JSON.parse(row.draft_manifest) as Manifest) : undefined,
      lastSeq: row?.last_seq ?? 0,
    };
  }

  async drafts(): Promise<DraftRecord[]> {
    const rows = await this.#reader()
      .selectFrom('gamedata_drafts')
      .selectAll()
      .orderBy('seq')
      .execute();
    return rows.map(({ kind, id, seq, body, replaced_by }) => ({
      kind: kind as Kind, // written by `putDraft`
      id,
      seq,
      body,
      replacedBy: replaced_by,
    }));
  }

  async insertVersion(tx: EditionTransaction, version: Version): Promise<void> {
    await tx
      .insertInto('gamedata_versions')
      .values({
        version: version.version,
        published_ms: version.publishedMs,
        message: version.message,
        actor: version.actor,
        source: version.source,
        manifest: JSON.stringify(version.manifest),
        counts: JSON.stringify(version.counts),
        changes: JSON.stringify(version.changes),
        changes_object: version.changesObject,
      })
      .execute();
  }

  async deleteVersions(below: number): Promise<void> {
    await this.transaction(async (tx) => {
      await tx.deleteFrom('gamedata_versions').where('version', '<', below).execute();
    });
  }

  async putState(
    tx: EditionTransaction,
    state: { readonly lastSeq: number; readonly draftManifest?: Manifest | null },
  ): Promise<void> {
    const values = {
      last_seq: state.lastSeq,
      ...(state.draftManifest !== undefined && {
        draft_manifest: state.draftManifest === null ? null : JSON.stringify(state.draftManifest),
      }),
    };
    await tx
      .insertInto('gamedata_state')
      .values({ id: STATE_ID, draft_manifest: null, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  }

  async putDraft(tx: EditionTransaction, draft: DraftRecord): Promise<void> {
    const { kind, id, seq, body, replacedBy } = draft;
    const values = { seq, body, replaced_by: replacedBy };
    await tx
      .insertInto('gamedata_drafts')
      .values({ kind, id, ...values })
      .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
      .execute();
  }

  async dropDrafts(tx: EditionTransaction, kinds: readonly Kind[]): Promise<void> {
    await tx.deleteFrom('gamedata_drafts').where('kind', 'in', kinds).execute();
  }

  async addHistory(tx: EditionTransaction, entry: HistoryEntry): Promise<void> {
    await tx
      .insertInto('gamedata_history')
      .values({
        seq: entry.seq,
        at_ms: entry.atMs,
        actor: entry.actor,
        op: entry.op,
        kind: entry.kind,
        id: entry.id,
        before_body: entry.before,
        after_body: entry.after,
        replaced_by: entry.replacedBy,
        about_seq: entry.aboutSeq,
        version: entry.version,
      })
      .execute();
  }

  /** Changes of these kinds that were not published yet are published with `version`. */
  async markPublished(
    tx: EditionTransaction,
    kinds: readonly Kind[],
    version: number,
  ): Promise<void> {
    await tx
      .updateTable('gamedata_history')
      .set({ version })
      .where('version', 'is', null)
      .where('kind', 'in', kinds)
      .execute();
  }

  /** Changes of these kinds that were not published yet never will be. */
  async markDiscarded(tx: EditionTransaction, kinds: readonly Kind[]): Promise<void> {
    await this.markPublished(tx, kinds, NO_VERSION);
  }

  async history(
    filter: HistoryFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly total: number; readonly entries: readonly HistoryEntry[] }> {
    let query = this.#reader().selectFrom('gamedata_history');
    for (const column of ['kind', 'id', 'actor', 'op'] as const) {
      const value = filter[column];
      if (value !== undefined) query = query.where(column, '=', value);
    }
    const { total } = await query
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await query
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    return { total: Number(total), entries: rows.map(entryOf) };
  }

  /** Changes of records after `seq`, oldest first. */
  async changesAfter(seq: number): Promise<readonly HistoryEntry[]> {
    const rows = await this.#reader()
      .selectFrom('gamedata_history')
      .selectAll()
      .where('seq', '>', seq)
      .where('kind', 'is not', null)
      .orderBy('seq')
      .execute();
    return rows.map(entryOf);
  }

  /**
   * Removes the oldest changes beyond `keepCount`. Those that are not published stay, and of each record the first one
   * since the last import: it says what an edit by hand has to be compared with.
   */
  async forgetHistory(keepCount: number): Promise<void> {
    const newestGone = await this.#reader()
      .selectFrom('gamedata_history')
      .select('seq')
      .orderBy('seq', 'desc')
      .offset(keepCount)
      .limit(1)
      .executeTakeFirst();
    if (newestGone === undefined) return;
    const lastImport = await this.#reader()
      .selectFrom('gamedata_history')
      .select('seq')
      .where('op', '=', 'import')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const importSeq = lastImport?.seq ?? 0;
    // What a round has passed over stays: to look at it again in each would take as long as all of it.
    let seenSeq = 0;
    for (let round = 0; round < MAX_FORGET_ROUNDS; round++) {
      const found = await this.#reader()
        .selectFrom('gamedata_history as change')
        .select('seq')
        .where('seq', '>', seenSeq)
        .where('seq', '<=', newestGone.seq)
        .where('seq', '<>', importSeq)
        .where((row) => row.or([row('version', 'is not', null), row('kind', 'is', null)]))
        .where((row) =>
          row.or([
            row('seq', '<', importSeq),
            row('kind', 'is', null),
            row('before_body', 'is', null),
            row.exists(
              row
                .selectFrom('gamedata_history as first')
                .select('first.seq')
                .whereRef('first.kind', '=', 'change.kind')
                .whereRef('first.id', '=', 'change.id')
                .whereRef('first.seq', '<', 'change.seq')
                .where('first.seq', '>', importSeq)
                .where('first.before_body', 'is not', null),
            ),
          ]),
        )
        .orderBy('seq')
        .limit(FORGET_AT_ONCE)
        .execute();
      const seqs = found.map(({ seq }) => seq);
      const lastSeq = seqs.at(-1);
      if (lastSeq === undefined) return;
      await this.transaction(async (tx) => {
        await tx.deleteFrom('gamedata_history').where('seq', 'in', seqs).execute();
      });
      if (found.length < FORGET_AT_ONCE) return;
      seenSeq = lastSeq;
    }
  }

  async historyEntry(seq: number): Promise<HistoryEntry | undefined> {
    const row = await this.#reader()
      .selectFrom('gamedata_history')
      .selectAll()
      .where('seq', '=', seq)
      .executeTakeFirst();
    return row && entryOf(row);
  }

  /** Unpublished changes of one actor, newest first. */
  async openEntries(actor: string, limit: number): Promise<readonly HistoryEntry[]> {
    const rows = await this.#reader()
      .selectFrom('gamedata_history')
      .selectAll()
      .where('actor', '=', actor)
      .where('version', 'is', null)
      .where('kind', 'is not', null)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
    return rows.map(entryOf);
  }

  async keptReply(key: string, actor: string, sinceMs: number): Promise<KeptReply | undefined> {
    const row = await this.#reader()
      .selectFrom('gamedata_replies')
      .selectAll()
      .where('key', '=', key)
      .where('actor', '=', actor)
      .where('created_ms', '>=', sinceMs)
      .executeTakeFirst();
    return row && { bodyHash: row.body_hash, status: row.status, reply: row.reply };
  }

  async keepReply(
    tx: EditionTransaction,
    reply: KeptReply & { readonly key: string; readonly actor: string; readonly nowMs: number },
  ): Promise<void> {
    const values = {
      body_hash: reply.bodyHash,
      status: reply.status,
      reply: reply.reply,
      created_ms: reply.nowMs,
    };
    await tx
      .insertInto('gamedata_replies')
      .values({ key: reply.key, actor: reply.actor, ...values })
      .onConflict((conflict) => conflict.columns(['key', 'actor']).doUpdateSet(values))
      .execute();
    await tx
      .deleteFrom('gamedata_replies')
      .where('created_ms', '<', reply.nowMs - 24 * 3_600_000)
      .execute();
  }

  async overlays(): Promise<readonly { kind: Kind; id: string; patch: string }[]> {
    const rows = await this.#reader().selectFrom('gamedata_overlays').selectAll().execute();
    return rows.map(({ kind, id, patch }) => ({ kind: kind as Kind, id, patch })); // as written below
  }

  async replaceOverlays(
    tx: EditionTransaction,
    overlays: readonly { kind: Kind; id: string; patch: string }[],
  ): Promise<void> {
    await tx.deleteFrom('gamedata_overlays').execute();
    for (let start = 0; start < overlays.length; start += 200) {
      const some = overlays.slice(start, start + 200).map((entry) => ({ ...entry }));
      await tx.insertInto('gamedata_overlays').values(some).execute();
    }
  }

  #reader() {
    return this.#store.reader<GameDataTables>();
  }
}

function versionOf(row: Selectable<GameDataTables['gamedata_versions']>): Version {
  return {
    version: row.version,
    publishedMs: Number(row.published_ms),
    message: row.message,
    actor: row.actor,
    source: row.source,
    manifest: JSON.parse(row.manifest) as Manifest,
    counts: JSON.parse(row.counts) as Record<Kind, number>,
    changes: JSON.parse(row.changes) as ChangeCounts,
    changesObject: row.changes_object,
  };
}

function entryOf(row: Selectable<GameDataTables['gamedata_history']>): HistoryEntry {
  return {
    seq: row.seq,
    atMs: Number(row.at_ms),
    actor: row.actor,
    op: row.op as HistoryOp, // written by `addHistory`
    kind: row.kind as Kind | null,
    id: row.id,
    before: row.before_body,
    after: row.after_body,
    replacedBy: row.replaced_by,
    aboutSeq: row.about_seq,
    version: row.version,
  };
}

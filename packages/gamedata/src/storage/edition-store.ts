import type { RelationalStore } from '@plinth/kernel';
import type { Selectable, Transaction } from 'kysely';
import type {
  CachedReply,
  ChangeCounts,
  DraftRecord,
  Manifest,
  Version,
} from '../model/edition.js';
import type { Kind } from '../model/kinds.js';
import { EditHistory } from './edit-history.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

export type EditionTransaction = Transaction<GameDataTables>;

const STATE_ID = 1;
/** Versions, drafts and what goes with them in the relational store. */
export class EditionStore {
  readonly history: EditHistory;
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
    this.history = new EditHistory(store);
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

  async keptReply(key: string, actor: string, sinceMs: number): Promise<CachedReply | undefined> {
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
    reply: CachedReply & { readonly key: string; readonly actor: string; readonly nowMs: number },
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

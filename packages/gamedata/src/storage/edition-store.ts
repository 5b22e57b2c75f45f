import type { RelationalStore } from '@plinth/kernel';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type {
  CachedReply,
  ChangeCounts,
  DraftRecord,
  Manifest,
  StoredDraft,
  Version,
} from '../model/edition.js';
import type { Kind } from '../model/kinds.js';
import { EditHistory } from './edit-history.js';
import { renewObjects } from './relational-objects.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

export type EditionTransaction = Transaction<GameDataTables>;
/** Connection for reads, inside or outside of a transaction. */
export type EditionReader = Kysely<GameDataTables>;

/** Base of the draft and change numbers. */
export interface EditionState {
  /** `undefined` for the newest version. */
  readonly draftManifest: Manifest | undefined;
  readonly lastSeq: number;
  readonly baseSeq: number;
}

const STATE_ID = 1;
/** Stores versions, drafts and related state in the relational store. */
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

  /** Whether other nodes may change the stored data. */
  get isShared(): boolean {
    return this.#store.system === 'postgresql';
  }

  /** Runs a transaction. Every change starts with `takeSeq`, which serializes the transactions. */
  async transaction<T>(work: (tx: EditionTransaction) => Promise<T>): Promise<T> {
    return await this.#store.transaction<GameDataTables, T>(work, { isolation: 'read_committed' });
  }

  /**
   * Returns the number of this transaction's change. Blocks other changes on all nodes until the
   * transaction ends.
   */
  async takeSeq(
    tx: EditionTransaction,
  ): Promise<{ readonly seq: number; readonly baseSeq: number }> {
    const { last_seq, base_seq } = await tx
      .updateTable('gamedata_state')
      .set((row) => ({ last_seq: row('last_seq', '+', 1) }))
      .where('id', '=', STATE_ID)
      .returning(['last_seq', 'base_seq'])
      .executeTakeFirstOrThrow();
    return { seq: last_seq, baseSeq: base_seq };
  }

  /** Returns all retained versions, oldest first. */
  async versions(on: EditionReader = this.#reader()): Promise<readonly Version[]> {
    const rows = await on.selectFrom('gamedata_versions').selectAll().orderBy('version').execute();
    return rows.map(versionOf);
  }

  async state(on: EditionReader = this.#reader()): Promise<EditionState> {
    const row = await on
      .selectFrom('gamedata_state')
      .selectAll()
      .where('id', '=', STATE_ID)
      .executeTakeFirstOrThrow();
    return {
      draftManifest: row.draft_manifest ? (JSON.parse(row.draft_manifest) as Manifest) : undefined,
      lastSeq: row.last_seq,
      baseSeq: row.base_seq,
    };
  }

  /** Returns the objects that versions and the draft use. */
  async referencedObjects(): Promise<ReadonlySet<string>> {
    // Reads one snapshot: a draft published between two queries would be missing from both.
    const { versions, draftManifest } = await this.#store.transaction<
      GameDataTables,
      { versions: readonly Version[]; draftManifest: Manifest | undefined }
    >(async (tx) => {
      const { draftManifest } = await this.state(tx);
      return { versions: await this.versions(tx), draftManifest };
    });
    const manifests = versions.map(({ manifest }) => manifest);
    if (draftManifest !== undefined) manifests.push(draftManifest);
    return new Set([
      ...manifests.flatMap(objectsOf),
      ...versions.map(({ changesObject }) => changesObject),
    ]);
  }

  /** Whether nothing has been stored, published or not. */
  async isUnused(on: EditionReader = this.#reader()): Promise<boolean> {
    const { rows } = await sql`select 1 from gamedata_state where base_seq <> 0
      union all select 1 from gamedata_versions union all select 1 from gamedata_drafts
      union all select 1 from gamedata_history limit 1`.execute(on);
    return rows.length === 0;
  }

  /**
   * Returns the differences of the draft from its base after change `afterSeq`, in the order in
   * which to apply them.
   */
  async drafts(
    afterSeq: number,
    on: EditionReader = this.#reader(),
  ): Promise<readonly StoredDraft[]> {
    const rows = await on
      .selectFrom('gamedata_drafts')
      .selectAll()
      .where('seq', '>', afterSeq)
      .orderBy('since_seq')
      .execute();
    return rows.map(({ kind, id, seq, since_seq, body, replaced_by }) => ({
      kind: kind as Kind, // written by `putDraft`
      id,
      seq,
      sinceSeq: since_seq,
      body,
      replacedBy: replaced_by,
    }));
  }

  /** Throws `ObjectsGone` when an object of the version is missing. */
  async insertVersion(tx: EditionTransaction, version: Version): Promise<void> {
    await this.#name(tx, [...objectsOf(version.manifest), version.changesObject]);
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

  async deleteVersions(tx: EditionTransaction, below: number): Promise<void> {
    await tx.deleteFrom('gamedata_versions').where('version', '<', below).execute();
  }

  /**
   * Sets the base of the draft. Throws `ObjectsGone`.
   * @param draftManifest `null` for the newest version; `undefined` if unchanged.
   */
  async putBase(
    tx: EditionTransaction,
    base: { readonly seq: number; readonly draftManifest: Manifest | null | undefined },
  ): Promise<void> {
    const { seq, draftManifest } = base;
    if (draftManifest) await this.#name(tx, objectsOf(draftManifest));
    await tx
      .updateTable('gamedata_state')
      .set({
        base_seq: seq,
        ...(draftManifest !== undefined && {
          draft_manifest: draftManifest === null ? null : JSON.stringify(draftManifest),
        }),
      })
      .where('id', '=', STATE_ID)
      .execute();
  }

  async putDraft(tx: EditionTransaction, draft: DraftRecord): Promise<void> {
    const { kind, id, seq, body, replacedBy } = draft;
    const values = { seq, body, replaced_by: replacedBy };
    const since_seq = sql<number>`case
      when (gamedata_drafts.body is null) = (excluded.body is null) then gamedata_drafts.since_seq
      else excluded.since_seq end`;
    await tx
      .insertInto('gamedata_drafts')
      .values({ kind, id, since_seq: seq, ...values })
      .onConflict((conflict) =>
        conflict.columns(['kind', 'id']).doUpdateSet({ ...values, since_seq }),
      )
      .execute();
  }

  /** Changes after `throughSeq` stay. */
  async dropDrafts(
    tx: EditionTransaction,
    kinds: readonly Kind[],
    throughSeq: number,
  ): Promise<void> {
    await tx
      .deleteFrom('gamedata_drafts')
      .where('kind', 'in', kinds)
      .where('seq', '<=', throughSeq)
      .execute();
  }

  async keptReply(
    options: { readonly key: string; readonly actor: string; readonly sinceMs: number },
    on: EditionReader = this.#reader(),
  ): Promise<CachedReply | undefined> {
    const row = await on
      .selectFrom('gamedata_replies')
      .selectAll()
      .where('key', '=', options.key)
      .where('actor', '=', options.actor)
      .where('created_ms', '>=', options.sinceMs)
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
    return rows.map(({ kind, id, patch }) => ({ kind: kind as Kind, id, patch })); // written by `replaceOverlays`
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

  async #name(tx: EditionTransaction, objects: readonly string[]): Promise<void> {
    if (this.isShared) await renewObjects(tx, objects);
  }

  #reader() {
    return this.#store.reader<GameDataTables>();
  }
}

function objectsOf({ groups }: Manifest): readonly string[] {
  return Object.values(groups).flat();
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

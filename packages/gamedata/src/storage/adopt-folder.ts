import type { ObjectStore, Random, RelationalStore } from '@plinth/kernel';
import { sql } from 'kysely';
import { EditionStore } from './edition-store.js';
import { GroupStore, LINES_FOLDER } from './group-store.js';
import { dropMovingHistory, MovingHistory } from './moving-history.js';
import type { RelationalObjects } from './relational-objects.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

/** Storage of a node before it used a shared database. */
export interface OwnFolder {
  readonly relational: RelationalStore;
  readonly objects: ObjectStore;
}

export interface Adopted {
  /** Newest moved version; `undefined` if none was moved. */
  readonly version: number | undefined;
  /** Whether a draft stays in the folder, because the folder has no version. */
  readonly leavesDraft: boolean;
}

/** All tables except the state, the history, and objects stored under their own names. */
const TABLES = [
  'gamedata_versions',
  'gamedata_drafts',
  'gamedata_replies',
  'gamedata_overlays',
] as const;
const ROWS_AT_ONCE = 200;

/**
 * Copies the game data of a folder into a database without any, including the objects of its
 * versions.
 * The folder keeps its data, migrated to this release. Safe to repeat, and harmless if there is
 * nothing to copy.
 */
export async function adoptFolder(
  from: OwnFolder,
  to: {
    readonly editions: EditionStore;
    readonly objects: RelationalObjects;
    readonly random: Random;
  },
): Promise<Adopted> {
  const names = await from.objects.list(`${LINES_FOLDER}/`);
  const present = new Set(names.map(({ name }) => name.slice(LINES_FOLDER.length + 1)));
  const { editions, objects } = to;
  const copyMissing = async (referenced: ReadonlySet<string>): Promise<void> => {
    const own = new GroupStore(from.objects);
    for (const name of await objects.missing(
      [...referenced].map((each) => `${LINES_FOLDER}/${each}`),
    )) {
      const plain = name.slice(LINES_FOLDER.length + 1);
      if (!present.has(plain)) continue;
      // Checked first, because a corrupt copy must not replace the intact one of another node.
      if (await own.isWhole(plain)) await objects.put(name, [await from.objects.get(name)]);
    }
  };
  let adopted: Adopted = { version: undefined, leavesDraft: false };
  if ((await hasTables(from.relational)) && (await editions.isUnused())) {
    await from.relational.migrate('gamedata', GAMEDATA_MIGRATIONS);
    const own = new EditionStore(from.relational);
    const newest = (await own.versions()).at(-1)?.version;
    if (newest === undefined) {
      const hasImport = (await own.state()).draftManifest !== undefined;
      const leavesDraft = hasImport || (await own.drafts(0)).length > 0;
      adopted = { version: undefined, leavesDraft };
    } else if (names.length > 0) {
      await copyMissing(await own.referencedObjects());
      const isMoved = await moveRows(
        from.relational,
        editions,
        new MovingHistory(editions, to.random.uuidV4()),
      );
      if (isMoved) adopted = { version: newest, leavesDraft: false };
    }
  }
  if (!(await editions.isUnused())) await dropMovingHistory(editions);
  if (names.length > 0) await copyMissing(await editions.referencedObjects());
  return adopted;
}

async function hasTables(store: RelationalStore): Promise<boolean> {
  const { rows } = await sql`select 1 from sqlite_master where name = 'gamedata_versions'`.execute(
    store.reader(),
  );
  return rows.length > 0;
}

/** @returns false when another node was faster. */
async function moveRows(
  from: RelationalStore,
  editions: EditionStore,
  history: MovingHistory,
): Promise<boolean> {
  const reader = from.reader<GameDataTables>();
  await history.bring(reader);
  const state = await reader.selectFrom('gamedata_state').selectAll().executeTakeFirstOrThrow();
  return await editions.transaction(async (tx) => {
    // Another node may have started at the same time.
    const { seq } = await editions.takeSeq(tx);
    if (!(await editions.isUnused(tx))) return false;
    for (const table of TABLES) {
      for (let offset = 0; ; offset += ROWS_AT_ONCE) {
        const some = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
          order by rowid limit ${ROWS_AT_ONCE} offset ${offset}`.execute(reader);
        if (some.rows.length > 0) {
          await tx
            .insertInto(table)
            .values(some.rows as never) // the same migrations created both tables
            .execute();
        }
        if (some.rows.length < ROWS_AT_ONCE) break;
      }
    }
    await history.moveIntoPlace(tx);
    const lastSeq = Math.max(seq, state.last_seq + 1);
    await tx
      .updateTable('gamedata_state')
      .set({ last_seq: lastSeq, base_seq: lastSeq, draft_manifest: state.draft_manifest })
      .execute();
    return true;
  });
}

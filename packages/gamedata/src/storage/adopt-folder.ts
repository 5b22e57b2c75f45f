import type { ObjectStore, RelationalStore } from '@plinth/kernel';
import { sql } from 'kysely';
import { EditionStore } from './edition-store.js';
import { GroupStore, LINES_FOLDER } from './group-store.js';
import type { RelationalObjects } from './relational-objects.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

/** What a node had for itself before it shared a database. */
export interface OwnFolder {
  readonly relational: RelationalStore;
  readonly objects: ObjectStore;
}

/** All but the state, and what is stored under its own name. */
const TABLES = [
  'gamedata_versions',
  'gamedata_drafts',
  'gamedata_history',
  'gamedata_replies',
  'gamedata_overlays',
] as const;
const ROWS_AT_ONCE = 200;

/**
 * Brings the game data of a folder into the database where that has none, and the objects that its versions name and that lie
 * in the folder. The folder stays as it is. Again after a failure, and harmless where nothing is to be done.
 * @returns the number of the newest version that was moved; `undefined`: none was.
 */
export async function adoptFolder(
  from: OwnFolder,
  to: { readonly editions: EditionStore; readonly objects: RelationalObjects },
): Promise<number | undefined> {
  const names = await from.objects.list(`${LINES_FOLDER}/`);
  if (names.length === 0) return undefined;
  const present = new Set(names.map(({ name }) => name.slice(LINES_FOLDER.length + 1)));
  const { editions, objects } = to;
  const copyMissing = async (wanted: ReadonlySet<string>): Promise<void> => {
    const own = new GroupStore(from.objects);
    for (const name of await objects.missing(
      [...wanted].map((each) => `${LINES_FOLDER}/${each}`),
    )) {
      const plain = name.slice(LINES_FOLDER.length + 1);
      if (!present.has(plain)) continue;
      // Read once: what is damaged must not keep the whole ones of another node out.
      if (await own.isWhole(plain)) await objects.put(name, [await from.objects.get(name)]);
    }
  };
  let moved: number | undefined;
  if ((await hasTables(from.relational)) && (await isUnused(editions))) {
    await from.relational.migrate('gamedata', GAMEDATA_MIGRATIONS);
    await copyMissing(await new EditionStore(from.relational).namedObjects());
    moved = await moveRows(from.relational, editions);
  }
  await copyMissing(await editions.namedObjects());
  return moved;
}

async function hasTables(store: RelationalStore): Promise<boolean> {
  const { rows } = await sql`select 1 from sqlite_master where name = 'gamedata_versions'`.execute(
    store.reader(),
  );
  return rows.length > 0;
}

async function isUnused(editions: EditionStore): Promise<boolean> {
  return (await editions.state()).baseSeq === 0 && (await editions.versions()).length === 0;
}

async function moveRows(
  from: RelationalStore,
  editions: EditionStore,
): Promise<number | undefined> {
  const reader = from.reader<GameDataTables>();
  const state = await reader.selectFrom('gamedata_state').selectAll().executeTakeFirstOrThrow();
  const newest = await reader
    .selectFrom('gamedata_versions')
    .select('version')
    .orderBy('version', 'desc')
    .executeTakeFirst();
  if (newest === undefined) return undefined;
  const isMoved = await editions.transaction(async (tx) => {
    // Another node may have begun at the same moment.
    const { seq, baseSeq } = await editions.takeSeq(tx);
    const { rows } = await sql`select 1 from gamedata_versions limit 1`.execute(tx);
    if (baseSeq !== 0 || rows.length > 0) return false;
    for (const table of TABLES) {
      for (let offset = 0; ; offset += ROWS_AT_ONCE) {
        const some = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
          order by rowid limit ${ROWS_AT_ONCE} offset ${offset}`.execute(reader);
        if (some.rows.length > 0) {
          await tx
            .insertInto(table)
            .values(some.rows as never) // the tables are made by the same migrations
            .execute();
        }
        if (some.rows.length < ROWS_AT_ONCE) break;
      }
    }
    const lastSeq = Math.max(seq, state.last_seq + 1);
    await tx
      .updateTable('gamedata_state')
      .set({ last_seq: lastSeq, base_seq: lastSeq, draft_manifest: state.draft_manifest })
      .execute();
    return true;
  });
  return isMoved ? newest.version : undefined;
}

import type { Migration } from '@plinth/kernel';
import { sql } from 'kysely';

export type GameDataTables = {
  gamedata_versions: {
    version: number;
    published_ms: number;
    message: string;
    actor: string;
    source: string;
    /** JSON: names and sizes of the row groups, languages, aliases. */
    manifest: string;
    /** JSON: counts by kind. */
    counts: string;
    /** JSON: numbers of created, updated and deleted records. */
    changes: string;
    /** Name of the object with the list of changed records. */
    changes_object: string;
  };
  gamedata_state: {
    id: number;
    /** JSON: base of the draft, if that is not the newest version. */
    draft_manifest: string | null;
    /** Number of the last change. A transaction that stores a change locks this row. */
    last_seq: number;
    /** Number of the last change of the draft base: publication, import or discard. */
    base_seq: number;
  };
  /** Records in which the draft differs from its base. */
  gamedata_drafts: {
    kind: string;
    id: string;
    seq: number;
    /**
     * Change since which the record has been present in the draft, or absent from it. New records
     * are sorted by this number.
     */
    since_seq: number;
    /** `null`: deleted. */
    body: string | null;
    replaced_by: string | null;
  };
  gamedata_history: {
    seq: number;
    at_ms: number;
    actor: string;
    op: string;
    kind: string | null;
    id: string | null;
    before_body: string | null;
    after_body: string | null;
    replaced_by: string | null;
    /** Entry to which an undo or redo refers. */
    about_seq: number | null;
    /** Version in which the change was published. */
    version: number | null;
  };
  /** Only in PostgreSQL: history copied from a node's folder, until it is moved into place. */
  gamedata_moving_history: { attempt: string } & GameDataTables['gamedata_history'];
  gamedata_replies: {
    key: string;
    actor: string;
    body_hash: string;
    status: number;
    reply: string;
    created_ms: number;
  };
  /** Manual edits of imported records, to be applied again after the next import. */
  gamedata_overlays: { kind: string; id: string; patch: string };
  /** Only in PostgreSQL: objects that are otherwise in the data folder of a node. */
  gamedata_objects: { name: string; bytes: Uint8Array; put_ms: number };
};

export const GAMEDATA_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_editions',
    async up(tx) {
      const tables = [
        sql`create table gamedata_versions (
          version integer primary key,
          published_ms bigint not null,
          message text not null,
          actor text not null,
          source text not null,
          manifest text not null,
          counts text not null,
          changes text not null,
          changes_object text not null)`,
        sql`create table gamedata_state (
          id integer primary key,
          draft_manifest text,
          last_seq integer not null)`,
        sql`create table gamedata_drafts (
          kind text not null,
          id text not null,
          seq integer not null,
          body text,
          replaced_by text,
          primary key (kind, id))`,
        sql`create table gamedata_history (
          seq integer primary key,
          at_ms bigint not null,
          actor text not null,
          op text not null,
          kind text,
          id text,
          before_body text,
          after_body text,
          replaced_by text,
          about_seq integer,
          version integer)`,
        sql`create table gamedata_replies (
          key text not null,
          actor text not null,
          body_hash text not null,
          status integer not null,
          reply text not null,
          created_ms bigint not null,
          primary key (key, actor))`,
        sql`create table gamedata_overlays (
          kind text not null,
          id text not null,
          patch text not null,
          primary key (kind, id))`,
      ];
      for (const table of tables) await table.execute(tx);
    },
  },
  {
    name: '0002_history_of_a_record',
    async up(tx) {
      await sql`create index gamedata_history_record on gamedata_history (kind, id, seq)`.execute(
        tx,
      );
    },
  },
  {
    name: '0003_shared_by_nodes',
    async up(tx, system) {
      const statements = [
        sql`alter table gamedata_state add column base_seq integer not null default 0`,
        sql`insert into gamedata_state (id, last_seq) values (1, 0) on conflict (id) do nothing`,
        sql`alter table gamedata_drafts add column since_seq integer not null default 0`,
        sql`update gamedata_drafts set since_seq = seq`,
      ];
      if (system === 'postgresql') {
        statements.push(
          sql`create table gamedata_objects (
            name text primary key,
            bytes bytea not null,
            put_ms bigint not null)`,
          // The objects are already compressed.
          sql`alter table gamedata_objects alter column bytes set storage external`,
        );
      }
      for (const statement of statements) await statement.execute(tx);
    },
  },
  {
    name: '0004_moving_history',
    async up(tx, system) {
      if (system !== 'postgresql') return;
      await sql`create table gamedata_moving_history (
        attempt text not null,
        like gamedata_history,
        primary key (attempt, seq))`.execute(tx);
    },
  },
];

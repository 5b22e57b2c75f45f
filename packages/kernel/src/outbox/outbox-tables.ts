import { type Generated, sql } from 'kysely';
import type { Migration } from '../relational/relational-store.js';

export type OutboxTables = {
  kernel_outbox: {
    seq: Generated<number>;
    id: string;
    type: string;
    created_ms: number;
    payload: string;
  };
  kernel_outbox_positions: { subscriber: string; position: number };
};

export const OUTBOX_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_outbox',
    async up(tx) {
      // AUTOINCREMENT: a number is never used again, or positions would skip what took the place of removed events.
      await sql`create table kernel_outbox (
        seq integer primary key autoincrement,
        id text not null unique,
        type text not null,
        created_ms integer not null,
        payload text not null)`.execute(tx);
      await sql`create table kernel_outbox_positions (
        subscriber text primary key,
        position integer not null)`.execute(tx);
    },
  },
];

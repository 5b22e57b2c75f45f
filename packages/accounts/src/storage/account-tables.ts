import type { Migration } from '@plinth/kernel';
import { sql, type Transaction } from 'kysely';

/** `tenant` is `<platform>:test` or `<platform>:live`. Text formats: docs/formats/accounts.md. */
export interface AccountTables {
  accounts_platforms: { id: string; created_ms: number; settings: string };
  accounts_accounts: {
    id: string;
    tenant: string;
    created_ms: number;
    is_closed: number;
    /** Bits of applied configurations: 1 customer, 2 merchant, 4 recipient. */
    configurations: number;
    /** Bits: 1 not yet compatible, 2 account of the older kind. */
    flags: number;
    /** The account as sent without `include`. */
    head: string;
    body: string;
    due_ms: number | null;
    test_clock: string | null;
    invoice_prefix: string | null;
  };
  accounts_persons: {
    id: string;
    tenant: string;
    account_id: string;
    created_ms: number;
    body: string;
  };
  accounts_tokens: {
    id: string;
    tenant: string;
    kind: string;
    account_id: string | null;
    created_ms: number;
    expires_ms: number;
    used_ms: number | null;
    /** Encrypted; null once the token is used or has expired. */
    payload: string | null;
  };
  accounts_idempotency: {
    /** The id has the form `<tenant>:<key>`. */
    id: string;
    fingerprint: string;
    /** Null while only refused requests have used the key. */
    status: number | null;
    request_id: string;
    body: string | null;
    is_sealed: number;
    created_ms: number;
  };
  /** All events of one commit of one request. */
  accounts_events: {
    id: string;
    tenant: string;
    created_ms: number;
    account_id: string;
    person_id: string | null;
    body: string;
  };
  accounts_destinations: { id: string; tenant: string; created_ms: number; body: string };
  accounts_deliveries: {
    id: string;
    tenant: string;
    destination_id: string;
    event_id: string;
    attempt: number;
    due_ms: number;
    created_ms: number;
  };
  /** Results of delivery attempts. */
  accounts_attempts: {
    /** The id increases with time. */
    id: string;
    destination_id: string;
    event_id: string;
    /** Number of the attempt, starting at 1. */
    attempt: number;
    attempted_ms: number;
    duration_ms: number;
    outcome: string;
    status: number | null;
    error: string | null;
  };
  accounts_fixtures: {
    id: string;
    tenant: string;
    kind: string;
    created_ms: number;
    body: string;
  };
  accounts_audit: { id: string; created_ms: number; body: string };
  /** Values shared by all nodes. */
  accounts_meta: { name: string; value: string };
  /**
   * Lock versions for cross-node conflict detection; used only if several nodes share the store.
   */
  accounts_guards: { id: string; version: string; created_ms: number };
}

export type TableName = keyof AccountTables;

export const ACCOUNT_MIGRATIONS: readonly Migration[] = [
  { name: '0001_accounts', up: createTables },
  { name: '0002_guards', up: createLockVersions },
  { name: '0003_delivery_turns', up: indexDeliveries },
  { name: '0004_attempts', up: createAttempts },
  { name: '0005_meta', up: createMeta },
];

async function createTables(tx: Transaction<unknown>): Promise<void> {
  const statements = [
    sql`create table accounts_platforms (
      id text primary key, created_ms bigint not null, settings text not null)`,
    sql`create table accounts_accounts (
      id text primary key, tenant text not null, created_ms bigint not null, is_closed integer not null,
      configurations integer not null, flags integer not null, head text not null, due_ms bigint, test_clock text,
      invoice_prefix text, body text not null)`,
    sql`create index accounts_accounts_page on accounts_accounts (tenant, is_closed, created_ms, id)`,
    sql`create index accounts_accounts_configured on accounts_accounts
      (tenant, is_closed, configurations, created_ms, id)`,
    sql`create index accounts_accounts_due on accounts_accounts (due_ms) where due_ms is not null`,
    sql`create index accounts_accounts_clock on accounts_accounts (test_clock) where test_clock is not null`,
    sql`create index accounts_accounts_prefix on accounts_accounts (tenant, invoice_prefix)
      where invoice_prefix is not null`,
    sql`create table accounts_persons (
      id text primary key, tenant text not null, account_id text not null, created_ms bigint not null,
      body text not null)`,
    sql`create index accounts_persons_page on accounts_persons (account_id, created_ms, id)`,
    sql`create table accounts_tokens (
      id text primary key, tenant text not null, kind text not null, account_id text,
      created_ms bigint not null, expires_ms bigint not null, used_ms bigint, payload text)`,
    sql`create index accounts_tokens_created on accounts_tokens (created_ms)`,
    sql`create index accounts_tokens_kept on accounts_tokens (expires_ms) where payload is not null`,
    sql`create table accounts_idempotency (
      id text primary key, fingerprint text not null, status integer, request_id text not null,
      body text, is_sealed integer not null, created_ms bigint not null)`,
    sql`create index accounts_idempotency_created on accounts_idempotency (created_ms)`,
    sql`create table accounts_events (
      id text primary key, tenant text not null, created_ms bigint not null, account_id text not null,
      person_id text, body text not null)`,
    sql`create index accounts_events_page on accounts_events (tenant, created_ms, id)`,
    sql`create index accounts_events_created on accounts_events (created_ms)`,
    sql`create index accounts_events_account on accounts_events (account_id, created_ms, id)`,
    sql`create index accounts_events_person on accounts_events (person_id, created_ms, id)
      where person_id is not null`,
    sql`create table accounts_destinations (
      id text primary key, tenant text not null, created_ms bigint not null, body text not null)`,
    sql`create table accounts_deliveries (
      id text primary key, tenant text not null, destination_id text not null, event_id text not null,
      attempt integer not null, due_ms bigint not null, created_ms bigint not null)`,
    sql`create index accounts_deliveries_due on accounts_deliveries (due_ms)`,
    sql`create index accounts_deliveries_destination on accounts_deliveries (destination_id)`,
    sql`create table accounts_fixtures (
      id text primary key, tenant text not null, kind text not null, created_ms bigint not null,
      body text not null)`,
    sql`create index accounts_fixtures_page on accounts_fixtures (tenant, kind, created_ms, id)`,
    sql`create table accounts_audit (
      id text primary key, created_ms bigint not null, body text not null)`,
    sql`create index accounts_audit_created on accounts_audit (created_ms)`,
  ];
  for (const statement of statements) await statement.execute(tx);
}

async function createLockVersions(tx: Transaction<unknown>): Promise<void> {
  const statements = [
    sql`create table accounts_guards (
      id text primary key, version text not null, created_ms bigint not null)`,
    sql`create index accounts_guards_created on accounts_guards (created_ms)`,
  ];
  for (const statement of statements) await statement.execute(tx);
}

/** Creates the index of pending deliveries by destination, earliest first. */
async function indexDeliveries(tx: Transaction<unknown>): Promise<void> {
  const statements = [
    sql`create index accounts_deliveries_turn on accounts_deliveries (destination_id, due_ms)`,
    sql`drop index accounts_deliveries_destination`,
    sql`drop index accounts_deliveries_due`,
  ];
  for (const statement of statements) await statement.execute(tx);
}

async function createAttempts(tx: Transaction<unknown>): Promise<void> {
  const statements = [
    sql`create table accounts_attempts (
      id text primary key, destination_id text not null, event_id text not null, attempt integer not null,
      attempted_ms bigint not null, duration_ms integer not null, outcome text not null, status integer, error text)`,
    sql`create index accounts_attempts_destination on accounts_attempts (destination_id, id)`,
    sql`create index accounts_attempts_attempted on accounts_attempts (attempted_ms)`,
  ];
  for (const statement of statements) await statement.execute(tx);
}

async function createMeta(tx: Transaction<unknown>): Promise<void> {
  await sql`create table accounts_meta (name text primary key, value text not null)`.execute(tx);
}

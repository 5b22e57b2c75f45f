import type { Migration } from '@plinth/kernel';
import type { Transaction } from 'kysely';

export interface IdentityTables {
  identity_tokens: {
    id: number;
    name: string;
    hash: string;
    created_ms: number;
    created_by_token_id: number | null;
    updated_ms: number | null;
    updated_by_token_id: number | null;
    expiry_ms: number | null;
    /** JSON; null for an admin token. */
    permissions: string | null;
    last_used_ms: number | null;
  };
  /** Next id. Ids are never reused, so that "created by" stays correct. */
  identity_sequences: { name: string; next: number };
  /** InfluxDB 1.x users by name. */
  identity_password_users: {
    name: string;
    password_hash: string;
    is_administrator: number;
    permissions: string;
    created_ms: number;
  };
  identity_platform_keys: {
    id: string;
    platform: string;
    kind: string;
    livemode: number;
    hash: string;
    last4: string;
    created_ms: number;
    expires_ms: number | null;
    revoked_ms: number | null;
    last_used_ms: number | null;
  };
}

export const IDENTITY_MIGRATIONS: readonly Migration[] = [
  { name: '0001_tokens', up: createTokens },
  { name: '0002_platform_keys', up: createPlatformKeys },
  { name: '0003_permissions', up: addPermissions },
  { name: '0004_last_used', up: addLastUsed },
];

async function createTokens(tx: Transaction<unknown>): Promise<void> {
  await tx.schema
    .createTable('identity_tokens')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by_token_id', 'integer')
    .addColumn('updated_ms', 'bigint')
    .addColumn('updated_by_token_id', 'integer')
    .addColumn('expiry_ms', 'bigint')
    .execute();
  await tx.schema
    .createTable('identity_sequences')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('next', 'integer', (column) => column.notNull())
    .execute();
}

async function createPlatformKeys(tx: Transaction<unknown>): Promise<void> {
  await tx.schema
    .createTable('identity_platform_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('platform', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('livemode', 'integer', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('last4', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint')
    .addColumn('revoked_ms', 'bigint')
    .execute();
}

async function addPermissions(tx: Transaction<unknown>): Promise<void> {
  await tx.schema.alterTable('identity_tokens').addColumn('permissions', 'text').execute();
  await tx.schema
    .createTable('identity_password_users')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('is_administrator', 'integer', (column) => column.notNull())
    .addColumn('permissions', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .execute();
}

async function addLastUsed(tx: Transaction<unknown>): Promise<void> {
  for (const table of ['identity_tokens', 'identity_platform_keys']) {
    await tx.schema.alterTable(table).addColumn('last_used_ms', 'bigint').execute();
  }
}

import { type Permission, permissionText } from '@plinth/kernel';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { nanosOfMs, systemTable, TEXT, TIME_MS, UINT64 } from '../system-table.js';

/** The visible properties of a token. */
export interface TokenRecord {
  readonly id: number;
  readonly name: string;
  /** Hex digits of the token's digest. */
  readonly hash: string;
  readonly createdMs: number;
  readonly createdByTokenId: number | undefined;
  readonly updatedMs: number | undefined;
  readonly updatedByTokenId: number | undefined;
  readonly expiryMs: number | undefined;
  readonly lastUsedMs?: number | undefined;
  /** `undefined` grants everything. */
  readonly permissions: readonly Permission[] | undefined;
}

/** The tokens of the server, provided by another service. */
export interface TokenDirectory {
  /** Returns the tokens by id, including expired ones. */
  list(): readonly TokenRecord[];
  /** If false, no token was ever presented, and the table has no column `hash`. */
  readonly isAuthRequired: boolean;
}

/** Enough digits to distinguish tokens without exposing the complete digest. */
const SHOWN_HASH_LENGTH = 9;

/** Only the operator can see the tokens of others. */
export function tokensTable(directory: TokenDirectory, access: DatabaseAccess): VirtualTable {
  const columns = {
    token_id: UINT64,
    name: TEXT,
    hash: TEXT,
    created_at: TIME_MS,
    description: TEXT,
    created_by_token_id: UINT64,
    updated_at: TIME_MS,
    updated_by_token_id: UINT64,
    expiry: TIME_MS,
    permissions: TEXT,
    last_used_at: TIME_MS,
  };
  const { hash: _, ...withoutHash } = columns;
  const shown = directory.isAuthRequired ? columns : withoutHash;
  return systemTable<keyof typeof withoutHash>(shown, () =>
    visible(directory, access).map((token) => ({
      token_id: token.id,
      name: token.name,
      hash: token.hash.slice(0, SHOWN_HASH_LENGTH),
      created_at: nanosOfMs(token.createdMs),
      description: undefined,
      created_by_token_id: token.createdByTokenId,
      updated_at: nanosOfMs(token.updatedMs),
      updated_by_token_id: token.updatedByTokenId,
      expiry: nanosOfMs(token.expiryMs),
      permissions: token.permissions?.map(permissionText).join(';') ?? '*:*:*',
      last_used_at: nanosOfMs(token.lastUsedMs),
    })),
  );
}

function visible(directory: TokenDirectory, access: DatabaseAccess): readonly TokenRecord[] {
  const all = directory.list();
  return access.isOperator ? all : all.filter(({ id }) => String(id) === access.owner);
}

import type { RelationalStore } from '@plinth/kernel';
import type { Selectable } from 'kysely';
import type { PasswordUser } from '../model/password-user.js';
import { permissionsOf } from './token-store.js';
import type { IdentityTables } from './token-tables.js';

/** InfluxDB 1.x users in the relational store. */
export class PasswordUserStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async readAll(): Promise<readonly PasswordUser[]> {
    const reader = this.#store.reader<IdentityTables>();
    const rows = await reader.selectFrom('identity_password_users').selectAll().execute();
    return rows.map(fromRow);
  }

  /** @returns false if the name exists; another node may have created it at the same moment. */
  async insert(user: PasswordUser): Promise<boolean> {
    return await this.#store.transaction<IdentityTables, boolean>(async (tx) => {
      const taken = await tx
        .selectFrom('identity_password_users')
        .select('name')
        .where('name', '=', user.name)
        .executeTakeFirst();
      if (taken !== undefined) return false;
      await tx.insertInto('identity_password_users').values(toRow(user)).execute();
      return true;
    });
  }

  async update(user: PasswordUser): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx
        .updateTable('identity_password_users')
        .set(toRow(user))
        .where('name', '=', user.name)
        .execute();
    });
  }

  async delete(user: PasswordUser): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx.deleteFrom('identity_password_users').where('name', '=', user.name).execute();
    });
  }
}

type UserRow = Selectable<IdentityTables['identity_password_users']>;

const toRow = (user: PasswordUser): UserRow => ({
  name: user.name,
  password_hash: user.passwordHash,
  is_administrator: user.isAdministrator ? 1 : 0,
  permissions: JSON.stringify(user.permissions),
  created_ms: user.createdMs,
});

const fromRow = (row: UserRow): PasswordUser => ({
  name: row.name,
  passwordHash: row.password_hash,
  isAdministrator: row.is_administrator === 1,
  permissions: permissionsOf(row.permissions),
  createdMs: Number(row.created_ms),
});

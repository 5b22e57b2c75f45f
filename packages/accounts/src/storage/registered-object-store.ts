import type { RelationalStore } from '@plinth/kernel';
import type { Kysely } from 'kysely';
import type {
  RegisteredObject,
  RegisteredObjectKind,
} from '../model/platform/registered-object.js';
import { type Tenant, tenantKey } from '../model/platform/tenant.js';
import type { AccountTables } from './account-tables.js';
import type { WriteSet } from './commit-queue.js';
import { inPage, inPageOrder, type PageQuery } from './pages.js';

/** Files, payment methods, invoice templates and test clocks; the table is `accounts_fixtures`. */
export class RegisteredObjectStore {
  readonly #reader: Kysely<AccountTables>;

  constructor(store: RelationalStore) {
    this.#reader = store.reader<AccountTables>();
  }

  async find<T extends RegisteredObject>(
    tenant: Tenant,
    kind: RegisteredObjectKind,
    id: string,
  ): Promise<T | undefined> {
    const [found] = await this.findAll<T>(tenant, kind, [id]);
    return found;
  }

  async findAll<T extends RegisteredObject>(
    tenant: Tenant,
    kind: RegisteredObjectKind,
    ids: readonly string[],
  ): Promise<readonly T[]> {
    if (ids.length === 0) return [];
    const rows = await this.#reader
      .selectFrom('accounts_fixtures')
      .select('body')
      .where('id', 'in', ids)
      .where('tenant', '=', tenantKey(tenant))
      .where('kind', '=', kind)
      .execute();
    return rows.map(({ body }) => JSON.parse(body) as T); // written by `put` with the same kind
  }

  async list<T extends RegisteredObject>(
    tenant: Tenant,
    kind: RegisteredObjectKind,
    page: PageQuery,
  ): Promise<readonly { readonly id: string; readonly createdMs: number; readonly object: T }[]> {
    const rows = await this.#reader
      .selectFrom('accounts_fixtures')
      .select(['id', 'created_ms', 'body'])
      .where('tenant', '=', tenantKey(tenant))
      .where('kind', '=', kind)
      .$call(inPage(page))
      .execute();
    return inPageOrder(
      rows.map((row) => ({
        id: row.id,
        createdMs: Number(row.created_ms),
        object: JSON.parse(row.body) as T,
      })),
      page,
    );
  }

  put(
    writes: WriteSet,
    options: {
      readonly tenant: Tenant;
      readonly kind: RegisteredObjectKind;
      readonly createdMs: number;
      readonly object: RegisteredObject;
    },
  ): void {
    writes.put('accounts_fixtures', {
      id: options.object.id,
      tenant: tenantKey(options.tenant),
      kind: options.kind,
      created_ms: options.createdMs,
      body: JSON.stringify(options.object),
    });
  }
}

import type { RelationalStore } from '@plinth/kernel';
import type { Kysely, Selectable } from 'kysely';
import type { EventBundle, EventDraft } from '../model/events/event.js';
import { type Tenant, tenantKey } from '../model/platform/tenant.js';
import type { AccountTables } from './account-tables.js';
import type { WriteSet } from './commit-queue.js';

type EventRow = Selectable<AccountTables['accounts_events']>;

interface Body {
  readonly request?: { readonly id: string; readonly idempotency_key: string };
  readonly events: readonly EventDraft[];
}

export interface EventRange {
  readonly subjectId?: string | undefined;
  readonly personId?: string | undefined;
  /** Bounds in milliseconds, both inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly direction: 'older' | 'newer';
  /**
   * The position at which to continue. The bundle with this id is read again, because a page can end within a
   * bundle.
   */
  readonly from?: { readonly createdMs: number; readonly bundleId: string } | undefined;
  readonly limit: number;
}

/** Events, stored as one row per commit, so that a request with ten events writes one row. */
export class EventStore {
  readonly #reader: Kysely<AccountTables>;

  constructor(store: RelationalStore) {
    this.#reader = store.reader<AccountTables>();
  }

  put(writes: WriteSet, bundle: EventBundle): void {
    writes.eventCount += bundle.events.length;
    const body: Body = {
      ...(bundle.request && { request: bundle.request }),
      events: bundle.events,
    };
    writes.put('accounts_events', {
      id: bundle.id,
      tenant: tenantKey(bundle.tenant),
      created_ms: bundle.createdMs,
      account_id: bundle.subjectId,
      person_id: bundle.personId ?? null,
      body: JSON.stringify(body),
    });
  }

  async find(tenant: Tenant, bundleId: string): Promise<EventBundle | undefined> {
    const [found] = await this.findAll([bundleId]);
    return found && tenantKey(found.tenant) === tenantKey(tenant) ? found : undefined;
  }

  async findAll(bundleIds: readonly string[]): Promise<readonly EventBundle[]> {
    if (bundleIds.length === 0) return [];
    const rows = await this.#reader
      .selectFrom('accounts_events')
      .selectAll()
      .where('id', 'in', bundleIds)
      .execute();
    return rows.map(toBundle);
  }

  /** Returns bundles in reading direction. */
  async list(tenant: Tenant, range: EventRange): Promise<readonly EventBundle[]> {
    const isOlder = range.direction === 'older';
    let query = this.#reader
      .selectFrom('accounts_events')
      .selectAll()
      .where('tenant', '=', tenantKey(tenant))
      .where('created_ms', '>=', range.fromMs)
      .where('created_ms', '<=', range.toMs);
    if (range.subjectId !== undefined) query = query.where('account_id', '=', range.subjectId);
    if (range.personId !== undefined) query = query.where('person_id', '=', range.personId);
    const { from } = range;
    if (from !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('created_ms', 'id'),
          isOlder ? '<=' : '>=',
          tuple(from.createdMs, from.bundleId),
        ),
      );
    }
    const direction = isOlder ? 'desc' : 'asc';
    const rows = await query
      .orderBy('created_ms', direction)
      .orderBy('id', direction)
      .limit(range.limit)
      .execute();
    return rows.map(toBundle);
  }
}

function toBundle(row: EventRow): EventBundle {
  const body = JSON.parse(row.body) as Body; // `put` wrote this JSON
  const colon = row.tenant.lastIndexOf(':');
  return {
    id: row.id,
    tenant: { platform: row.tenant.slice(0, colon), livemode: row.tenant.endsWith(':live') },
    createdMs: Number(row.created_ms),
    subjectId: row.account_id,
    personId: row.person_id ?? undefined,
    request: body.request,
    events: body.events,
  };
}

import { type Clock, RawStatements, type RelationalStore } from '@plinth/kernel';

/** Accounts with equal values of all counted properties. */
export interface AccountGroup {
  readonly isLive: boolean;
  readonly isClosed: boolean;
  /** Bits of the configurations, as stored. */
  readonly configurations: number;
  readonly count: number;
  /** Number of accounts with a scheduled change of requirements or statuses. */
  readonly datedCount: number;
}

export interface RowCounts {
  readonly accounts: readonly AccountGroup[];
  readonly persons: readonly { readonly isLive: boolean; readonly count: number }[];
}

const SLICE_SIZE = 5000;
/** Pause between slices, so that requests can run. */
const PAUSE_MS = 10;
const GOOD_FOR_MS = 60_000;
const IS_LIVE = `case when tenant like '%:live' then 1 else 0 end`;
/**
 * The database computes the greatest id of a slice, because databases order strings differently.
 */
const LAST = 'max(max(id)) over () as last';

interface Slice {
  readonly last: string;
  readonly count: number | bigint | string;
}
type AccountSlice = Slice &
  Readonly<Record<'is_live' | 'is_closed' | 'configurations' | 'dated', number | bigint | string>>;
type PersonSlice = Slice & { readonly is_live: number | bigint | string };

/**
 * Counts stored accounts and persons in the background, several thousand at a time. A count starts on
 * request, at most once a minute.
 */
export class RowCounter {
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #sql: RawStatements;
  readonly #end = new AbortController();
  #counts: RowCounts | undefined;
  #countedMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(store: RelationalStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#sql = new RawStatements(store.system);
  }

  /** Returns the latest complete count; `undefined` before the first one. */
  get latest(): RowCounts | undefined {
    const isOld = this.#clock.monotonicMs() - this.#countedMs >= GOOD_FOR_MS;
    if (isOld && !this.#end.signal.aborted) this.#running ??= this.#refresh();
    return this.#counts;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #refresh(): Promise<void> {
    try {
      this.#counts = { accounts: await this.#countAccounts(), persons: await this.#countPersons() };
      this.#countedMs = this.#clock.monotonicMs();
    } catch {
      // Store outages are reported elsewhere; the previous numbers stay until the next request.
    } finally {
      this.#running = undefined;
    }
  }

  async #countAccounts(): Promise<readonly AccountGroup[]> {
    const groups = new Map<string, AccountGroup>();
    const text = `select ${IS_LIVE} as is_live, is_closed, configurations, count(*) as count,
        sum(case when due_ms is null then 0 else 1 end) as dated, ${LAST}
      from (select id, tenant, is_closed, configurations, due_ms from accounts_accounts
        where id > ? order by id limit ${SLICE_SIZE}) as slice
      group by ${IS_LIVE}, is_closed, configurations`;
    await this.#eachSlice<AccountSlice>(text, (row) => {
      const key = `${row.is_live} ${row.is_closed} ${row.configurations}`;
      const before = groups.get(key);
      groups.set(key, {
        isLive: Number(row.is_live) === 1,
        isClosed: Number(row.is_closed) === 1,
        configurations: Number(row.configurations),
        count: (before?.count ?? 0) + Number(row.count),
        datedCount: (before?.datedCount ?? 0) + Number(row.dated),
      });
    });
    return [...groups.values()];
  }

  async #countPersons(): Promise<RowCounts['persons']> {
    const counts = [0, 0];
    const text = `select ${IS_LIVE} as is_live, count(*) as count, ${LAST}
      from (select id, tenant from accounts_persons where id > ? order by id limit ${SLICE_SIZE}) as slice
      group by ${IS_LIVE}`;
    await this.#eachSlice<PersonSlice>(text, (row) => {
      const index = Number(row.is_live);
      counts[index] = (counts[index] ?? 0) + Number(row.count);
    });
    return counts.map((count, index) => ({ isLive: index === 1, count }));
  }

  /**
   * @param text SQL with one parameter, the id after which the slice begins; it returns the groups
   * of that slice.
   */
  async #eachSlice<R extends Slice>(text: string, take: (row: R) => void): Promise<void> {
    for (let from = '', size = SLICE_SIZE; size === SLICE_SIZE; ) {
      const rows = await this.#sql.all<R>(this.#store.reader(), text, [from]);
      for (const row of rows) take(row);
      size = rows.reduce((sum, { count }) => sum + Number(count), 0);
      from = rows[0]?.last ?? from;
      if (size === SLICE_SIZE) await this.#clock.sleep(PAUSE_MS, this.#end.signal);
    }
  }
}

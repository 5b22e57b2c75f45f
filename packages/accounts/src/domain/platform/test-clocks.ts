import type { Clock, Random } from '@plinth/kernel';
import { IdGenerator } from '../../model/ids.js';
import type { TestClock } from '../../model/platform/registered-object.js';
import type { Tenant } from '../../model/platform/tenant.js';
import { AccountsRefused } from '../../model/violation.js';
import type { AccountStore } from '../../storage/account-store.js';
import { type CommitQueue, WriteSet } from '../../storage/commit-queue.js';
import type { RegisteredObjectStore } from '../../storage/registered-object-store.js';
import { type ListRequest, readPage, toPage } from '../account/account-pages.js';
import type { AccountWriter } from '../change/account-writer.js';
import type { MutationResponse, Mutations } from '../change/mutations.js';
import { invalidFields, notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';

const ADVANCING_MS = 2000;
const LIFE_SEC = 30 * 86_400;
const MAX_ADVANCE_SEC = 2 * 366 * 86_400;

/**
 * Maximum number of retries. Accounts rarely join a clock concurrently, because a clock has at most
 * three accounts.
 */
const MAX_ROUND_COUNT = 10;

/** The accounts of the clock differ from those whose locks are held; nothing was changed. */
class AccountJoined extends Error {
  override readonly name = 'AccountJoined';
  constructor(clockId: string) {
    super(`an account joined ${clockId} during its deletion`);
  }
}

interface TestClocksDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly registeredObjects: RegisteredObjectStore;
  readonly accounts: AccountStore;
  readonly commits: CommitQueue;
  readonly mutations: Mutations;
  readonly writer: AccountWriter;
}

/** Clocks for customers in test mode. Source: accounts, section 18. */
export class TestClocks {
  readonly #deps: TestClocksDeps;
  readonly #idGenerator: IdGenerator;

  constructor(deps: TestClocksDeps) {
    this.#deps = deps;
    this.#idGenerator = new IdGenerator({ clock: deps.clock, random: deps.random, length: 24 });
  }

  async create(
    context: RequestContext,
    call: { readonly body: unknown; readonly frozenTime: number; readonly name: string | null },
  ): Promise<MutationResponse> {
    const mutation = { context, body: call.body, concurrencyKey: 'test_clocks', lockKeys: [] };
    return await this.#deps.mutations.run(mutation, async () => {
      refuseLive(context);
      const writes = new WriteSet();
      const clock = this.#make(writes, context.tenant, call);
      return { body: JSON.stringify(this.#wire(clock)), writes };
    });
  }

  /** Creates a clock for the operator, without a key. */
  async add(
    tenant: Tenant,
    options: { readonly frozenTime: number; readonly name: string | null },
  ): Promise<Record<string, unknown>> {
    const writes = new WriteSet();
    const clock = this.#make(writes, tenant, options);
    await this.#deps.commits.commit(writes);
    return this.#wire(clock);
  }

  async retrieve(context: RequestContext, id: string): Promise<string> {
    return JSON.stringify(this.#wire(await this.#find(context.tenant, id)));
  }

  /** Throws `not_found`. */
  async refuseUnknown(tenant: Tenant, id: string): Promise<void> {
    await this.#find(tenant, id);
  }

  async list(context: RequestContext, request: ListRequest): Promise<string> {
    const query = readPage(request);
    const found = await this.#deps.registeredObjects.list<TestClock>(
      context.tenant,
      'test_clock',
      query,
    );
    const { items, next_page_url } = toPage(request, query, found);
    const data = items.map(({ object }) => this.#wire(object));
    return JSON.stringify({
      object: 'list',
      data,
      has_more: next_page_url !== null,
      url: context.path,
    });
  }

  async advance(
    context: RequestContext,
    id: string,
    call: { readonly body: unknown; readonly frozenTime: number },
  ): Promise<MutationResponse> {
    return await this.#change(context, id, call.body, async (clock) => {
      const { frozenTime } = call;
      if (this.#isAdvancing(clock)) {
        const message = `The test clock ${id} is advancing; retry when it is ready.`;
        throw new AccountsRefused({ code: 'test_clocks_advance_in_progress', message });
      }
      const isLater = frozenTime > clock.frozen_time;
      if (!isLater || frozenTime > clock.frozen_time + MAX_ADVANCE_SEC) {
        const field = 'frozen_time';
        const message = `${field} must be later than the clock's time, by at most two years.`;
        throw invalidFields([{ field, code: 'out_of_range', message }]);
      }
      const advancesUntilMs = this.#deps.clock.nowMs() + ADVANCING_MS;
      const after = { ...clock, frozen_time: frozenTime, advancesUntilMs };
      const writes = new WriteSet();
      this.#put(writes, context.tenant, after);
      return { body: JSON.stringify(this.#wire(after)), writes };
    });
  }

  /** Deletes a clock and closes its accounts. */
  async delete(context: RequestContext, id: string): Promise<MutationResponse> {
    for (let round = 1; ; round++) {
      try {
        return await this.#deleteWith(context, id, await this.#deps.accounts.listOnClock(id));
      } catch (error) {
        if (!(error instanceof AccountJoined) || round === MAX_ROUND_COUNT) throw error;
      }
    }
  }

  /** Throws `AccountJoined` if the clock has other accounts once its lock is held. */
  async #deleteWith(
    context: RequestContext,
    id: string,
    accountIds: readonly string[],
  ): Promise<MutationResponse> {
    const { accounts, writer } = this.#deps;
    const { tenant, settings } = context;
    const locks = accountIds.map((accountId) => `account:${accountId}`);
    const work = async () => {
      const onClock = await accounts.listOnClock(id);
      if (onClock.some((accountId) => !accountIds.includes(accountId))) throw new AccountJoined(id);
      const writes = new WriteSet().delete('accounts_fixtures', id);
      const request = { id: context.requestId, idempotency_key: context.idempotencyKey };
      for (const accountId of onClock) {
        const stored = await accounts.aggregate(tenant, accountId);
        if (stored === undefined) continue;
        const after = { ...stored, account: { ...stored.account, isClosed: true } };
        writes.add(writer.buildWriteSet(stored, after, { settings, request }).writes);
      }
      const body = { id, object: 'test_helpers.test_clock', deleted: true };
      return { body: JSON.stringify(body), writes };
    };
    return await this.#change(context, id, {}, work, locks);
  }

  async #change(
    context: RequestContext,
    id: string,
    body: unknown,
    work: (clock: TestClock) => Promise<{ readonly body: string; readonly writes: WriteSet }>,
    moreLocks: readonly string[] = [],
  ): Promise<MutationResponse> {
    const key = `clock:${id}`;
    const call = { context, body, concurrencyKey: key, lockKeys: [key, ...moreLocks] };
    return await this.#deps.mutations.run(call, async () => {
      refuseLive(context);
      return await work(await this.#find(context.tenant, id));
    });
  }

  async #find(tenant: Tenant, id: string): Promise<TestClock> {
    const clock = await this.#deps.registeredObjects.find<TestClock>(tenant, 'test_clock', id);
    if (clock === undefined) throw notFound('test clock', id);
    return clock;
  }

  #make(
    writes: WriteSet,
    tenant: Tenant,
    options: { readonly frozenTime: number; readonly name: string | null },
  ): TestClock {
    const { createdMs, letters } = this.#idGenerator.next();
    const created = Math.floor(createdMs / 1000);
    const clock: TestClock = {
      id: `clock_${letters}`,
      name: options.name,
      frozen_time: options.frozenTime,
      created,
      deletes_after: created + LIFE_SEC,
      advancesUntilMs: 0,
    };
    const kind = 'test_clock';
    this.#deps.registeredObjects.put(writes, { tenant, kind, createdMs, object: clock });
    return clock;
  }

  #put(writes: WriteSet, tenant: Tenant, object: TestClock): void {
    const createdMs = object.created * 1000;
    this.#deps.registeredObjects.put(writes, { tenant, kind: 'test_clock', createdMs, object });
  }

  #isAdvancing({ advancesUntilMs }: TestClock): boolean {
    return advancesUntilMs > this.#deps.clock.nowMs();
  }

  #wire(clock: TestClock): Record<string, unknown> {
    return {
      id: clock.id,
      object: 'test_helpers.test_clock',
      created: clock.created,
      deletes_after: clock.deletes_after,
      frozen_time: clock.frozen_time,
      livemode: false,
      name: clock.name,
      status: this.#isAdvancing(clock) ? 'advancing' : 'ready',
    };
  }
}

function refuseLive({ tenant }: RequestContext): void {
  if (!tenant.livemode) return;
  const message = 'Test clocks are only available in test mode.';
  throw new AccountsRefused({ code: 'test_clock_disallowed_on_live_mode', message });
}

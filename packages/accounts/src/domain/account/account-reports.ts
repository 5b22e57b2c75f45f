import type { Outbox } from '@plinth/kernel';
import { type EventBundle, type EventDraft, eventId } from '../../model/events/event.js';
import { accountSummaryJson } from '../../model/wire/account-object.js';
import type { AccountStore } from '../../storage/account-store.js';
import { EVENTS_COMMITTED } from '../../storage/commit-queue.js';
import type { EventStore } from '../../storage/event-store.js';

/** A change to an account or person, reported to other services of this server. */
export interface AccountReport {
  /** Id of the report, which stays the same when the report is repeated. */
  readonly id: string;
  /** Event type, such as `account.created`. */
  readonly type: string;
  readonly createdMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Service that receives account reports. */
export interface AccountListener {
  /** Reloads the data that `isWanted` depends on, because another node may have changed it. */
  catchUp(): Promise<void>;
  /** Called for every change. The report is written only if this returns true. */
  isWanted(type: string): boolean;
  /** Called repeatedly for a report until the promise resolves. */
  report(report: AccountReport): Promise<void>;
}

/** Maps event types of this service to report types. */
const REPORT_TYPES: ReadonlyMap<string, string> = new Map(
  [
    ...['created', 'updated', 'closed'].map((action) => `account.${action}`),
    ...['created', 'updated', 'deleted'].map((action) => `account_person.${action}`),
  ].map((type) => [`v2.core.${type}`, type]),
);

/** Reports committed changes to a listener, at least once, with the account's current state. */
export class AccountReports {
  readonly #deps: ReportDeps;

  constructor(deps: ReportDeps) {
    this.#deps = deps;
    deps.outbox.subscribe('accounts_reports', [EVENTS_COMMITTED], async ({ payload }) => {
      const { ids } = payload as { readonly ids: readonly string[] }; // the commit queue wrote this payload
      await deps.listener.catchUp();
      if (![...REPORT_TYPES.values()].some((name) => deps.listener.isWanted(name))) return;
      for (const bundle of await deps.events.findAll(ids)) await this.#reportBundle(bundle);
    });
  }

  hasSubscriber({ events }: EventBundle): boolean {
    return events.some((event) => this.#typeOf(event) !== undefined);
  }

  async #reportBundle(bundle: EventBundle): Promise<void> {
    for (const [index, event] of bundle.events.entries()) {
      const type = this.#typeOf(event);
      if (type === undefined) continue;
      const payload = await this.#payloadOf(bundle, event);
      const id = eventId(bundle, index);
      await this.#deps.listener.report({ id, type, createdMs: bundle.createdMs, payload });
    }
  }

  #typeOf({ type }: EventDraft): string | undefined {
    const name = REPORT_TYPES.get(type);
    return name !== undefined && this.#deps.listener.isWanted(name) ? name : undefined;
  }

  /** Contains only the ids of persons; permitted readers fetch other data. */
  async #payloadOf(
    { tenant }: EventBundle,
    { target }: EventDraft,
  ): Promise<Readonly<Record<string, unknown>>> {
    const accountId = target.kind === 'person' ? target.accountId : target.id;
    const found = await this.#deps.accounts.aggregate(tenant, accountId);
    const account: unknown =
      found === undefined
        ? { id: accountId, object: 'v2.core.account', livemode: tenant.livemode }
        : JSON.parse(accountSummaryJson(found.account, this.#deps.wire));
    return target.kind === 'person'
      ? { account, person: { id: target.id, account: accountId } }
      : { account };
  }
}

interface ReportDeps {
  readonly outbox: Outbox;
  readonly events: EventStore;
  readonly accounts: AccountStore;
  readonly listener: AccountListener;
  readonly wire: Parameters<typeof accountSummaryJson>[1];
}

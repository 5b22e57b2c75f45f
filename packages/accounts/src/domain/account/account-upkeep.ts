import type { Clock } from '@plinth/kernel';
import type { OperatorOverrides, StoredAccount } from '../../model/account/account.js';
import type { OperatorRequirement } from '../../model/account/requirements.js';
import { isSame } from '../../model/merge-fields.js';
import type { PlatformSettings } from '../../model/platform/platform-settings.js';
import type { Tenant } from '../../model/platform/tenant.js';
import type { AccountStore, Aggregate } from '../../storage/account-store.js';
import type { AccountWriter, ChangeReason } from '../change/account-writer.js';
import type { KeyedLocks } from '../change/keyed-locks.js';
import type { OptimisticCommits } from '../change/optimistic-commits.js';
import type { Platforms } from '../platform/platforms.js';
import { invalidFields, notFound } from '../refusals.js';

interface UpkeepDeps {
  readonly clock: Clock;
  readonly store: AccountStore;
  readonly writer: AccountWriter;
  readonly commits: OptimisticCommits;
  readonly locks: KeyedLocks;
  readonly platforms: Platforms;
}

/** Accounts per batch; other work runs between batches. */
const BATCH_SIZE = 100;

/**
 * Applies account changes that time or the operator causes, not a client. Source: accounts,
 * sections 4, 16.3 and 16.6.
 */
export class AccountUpkeep {
  readonly #deps: UpkeepDeps;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
  }

  /** Evaluates an account at the current time. */
  async refresh(tenant: Tenant, id: string, more: Partial<ChangeReason> = {}): Promise<void> {
    await this.#change(tenant, id, (stored) => stored, more);
  }

  /** Evaluates all due accounts of all tenants. @returns the number of accounts. */
  async refreshDue(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (;;) {
      const due = await this.#deps.store.listDue(this.#deps.clock.nowMs(), BATCH_SIZE);
      for (const { id, tenant } of due) {
        if (signal?.aborted) return count;
        const colon = tenant.lastIndexOf(':');
        const livemode = tenant.endsWith(':live');
        await this.refresh({ platform: tenant.slice(0, colon), livemode }, id);
        count += 1;
      }
      // The limit prevents an endless loop over accounts whose due time never advances.
      if (due.length < BATCH_SIZE || count >= 100 * BATCH_SIZE) return count;
    }
  }

  /** Evaluates every open account of a tenant as of `asOfMs`. @returns the number of accounts. */
  async evaluateAll(tenant: Tenant, asOfMs: number | undefined): Promise<number> {
    let count = 0;
    let afterId = '';
    for (;;) {
      const ids = await this.#deps.store.listOpenIds(tenant, afterId, BATCH_SIZE);
      for (const id of ids) {
        const at = asOfMs === undefined ? {} : { asOfMs };
        await this.refresh(tenant, id, { completesPendingChecks: true, ...at });
      }
      count += ids.length;
      if (ids.length < BATCH_SIZE) return count;
      afterId = ids.at(-1) ?? '';
    }
  }

  async changeOverrides(
    tenant: Tenant,
    id: string,
    change: {
      readonly overrides: (overrides: OperatorOverrides) => OperatorOverrides;
      readonly outcomes?: Readonly<Record<string, string>>;
    },
  ): Promise<StoredAccount> {
    return await this.#change(
      tenant,
      id,
      (stored) => withAccount(stored, { overrides: change.overrides(stored.account.overrides) }),
      change.outcomes ? { outcomes: change.outcomes } : {},
    );
  }

  async addOperatorRequirement(
    tenant: Tenant,
    id: string,
    entry: OperatorRequirement,
  ): Promise<StoredAccount> {
    return await this.#change(tenant, id, (stored) =>
      withAccount(stored, {
        operatorRequirements: [...stored.account.operatorRequirements, entry],
      }),
    );
  }

  /** Throws `not_found` for a requirement that the operator has not added. */
  async removeOperatorRequirement(
    tenant: Tenant,
    id: string,
    entryId: string,
  ): Promise<StoredAccount> {
    return await this.#change(tenant, id, (stored) => {
      const { operatorRequirements } = stored.account;
      const left = operatorRequirements.filter((entry) => entry.id !== entryId);
      if (left.length === operatorRequirements.length)
        throw notFound('injected requirement', entryId);
      return withAccount(stored, { operatorRequirements: left });
    });
  }

  /** Closes an account without checking the API's conditions. */
  async close(tenant: Tenant, id: string): Promise<StoredAccount> {
    return await this.#change(tenant, id, (stored) => withAccount(stored, { isClosed: true }));
  }

  async #change(
    tenant: Tenant,
    id: string,
    change: (stored: Aggregate) => Aggregate,
    more: Partial<ChangeReason> = {},
  ): Promise<StoredAccount> {
    const { locks, store, writer, commits } = this.#deps;
    const lockKeys = [`account:${id}`];
    return await locks.with(lockKeys, async () => {
      const { outcome } = await commits.commit(lockKeys, async () => {
        const stored = await store.aggregate(tenant, id);
        if (stored === undefined) throw notFound('account', id);
        const settings: PlatformSettings = this.#deps.platforms.get(tenant.platform).settings;
        const { after, writes } = writer.buildWriteSet(stored, change(stored), {
          settings,
          ...more,
        });
        refuseTargets(more.outcomes, after.account.verifications);
        const isChanged = !isSame(stored.account, after.account);
        return { outcome: after.account, writes: isChanged ? writes : undefined };
      });
      return outcome;
    });
  }
}

function withAccount(stored: Aggregate, change: Partial<StoredAccount>): Aggregate {
  return { ...stored, account: { ...stored.account, ...change } };
}

/** Rejects outcomes for unknown targets, which would otherwise be ignored. */
function refuseTargets(
  outcomes: ChangeReason['outcomes'],
  verifications: StoredAccount['verifications'],
): void {
  const unknown = Object.keys(outcomes ?? {}).find((name) => !Object.hasOwn(verifications, name));
  if (unknown === undefined) return;
  const known = Object.keys(verifications);
  const field = 'verify.target';
  const message = `${field} ${JSON.stringify(unknown.slice(0, 200))} is not a verification target of this account; targets: ${known.join(', ') || 'none'}.`;
  throw invalidFields([{ field, code: 'invalid_enum', message }]);
}

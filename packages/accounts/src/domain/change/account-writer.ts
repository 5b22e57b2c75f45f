import { type Clock, type Random, randomLetters } from '@plinth/kernel';
import type { StoredAccount } from '../../model/account/account.js';
import type { DeriveRequirements } from '../../model/account/derive-requirements.js';
import { requirementsCollectorOf } from '../../model/account/derived.js';
import type { StoredPerson } from '../../model/account/person.js';
import type { Requirements } from '../../model/account/requirements.js';
import { BUNDLE_ID_LENGTH, type EventBundle, type EventDraft } from '../../model/events/event.js';
import { IdGenerator } from '../../model/ids.js';
import { isSame } from '../../model/merge-fields.js';
import type { PlatformSettings } from '../../model/platform/platform-settings.js';
import { accountSummaryJson, type WireOptions } from '../../model/wire/account-object.js';
import { toAccountRow, toPersonRow } from '../../storage/account-codec.js';
import type { Aggregate } from '../../storage/account-store.js';
import { WriteSet } from '../../storage/commit-queue.js';
import type { Encryptor } from '../../storage/encryptor.js';
import type { EventStore } from '../../storage/event-store.js';
import { eventsOf } from '../events/account-events.js';

/** The reason for an account change, and inputs of the evaluation in addition to the account data. */
export interface ChangeReason {
  readonly settings: PlatformSettings;
  /** `undefined` for the passage of time or the operator. */
  readonly request?: { readonly id: string; readonly idempotency_key: string };
  /** Outcomes of pending verifications, set by the operator. */
  readonly outcomes?: Readonly<Record<string, string>>;
  /** Set when the operator evaluates all accounts (`/tick`). */
  readonly completesPendingChecks?: boolean;
  /** The instant at which the account is evaluated. */
  readonly asOfMs?: number;
}

export interface FinishedChange {
  readonly after: Aggregate;
  /** Response JSON of the account without includable sections; also stored for reads. */
  readonly summaryJson: string;
  readonly writes: WriteSet;
}

interface AccountWriterDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly encryptor: Encryptor;
  readonly events: EventStore;
  readonly derive: DeriveRequirements;
  readonly wire: WireOptions;
  /** Whether a receiver needs events of these types. */
  readonly hasSubscriber: (bundle: EventBundle) => boolean;
}

/**
 * All account changes pass through this class. It derives requirements and statuses, turns the
 * differences into events, and collects all rows in one write set.
 */
export class AccountWriter {
  readonly #deps: AccountWriterDeps;
  readonly #bundleIds: IdGenerator;

  constructor(deps: AccountWriterDeps) {
    this.#deps = deps;
    const { clock, random } = deps;
    this.#bundleIds = new IdGenerator({ clock, random, length: BUNDLE_ID_LENGTH });
  }

  /** @param after state after the request; its derived values are ignored. */
  buildWriteSet(
    before: Aggregate | undefined,
    after: Aggregate,
    reason: ChangeReason,
  ): FinishedChange {
    const account = this.#evaluate(after, reason);
    const evaluated: Aggregate = { account, persons: after.persons };
    const drafts = eventsOf(before, evaluated);
    const writes = new WriteSet();
    const summaryJson = accountSummaryJson(account, this.#deps.wire);
    // Internal changes are stored even without a visible change.
    if (drafts.length === 0 && before !== undefined && !hasHiddenChange(before.account, account)) {
      return { after: evaluated, summaryJson, writes };
    }
    writes.put('accounts_accounts', toAccountRow(account, summaryJson, this.#deps.encryptor));
    this.#putPersons(writes, before?.persons ?? [], evaluated);
    if (drafts.length > 0) this.#putEvents(writes, evaluated, drafts, reason);
    return { after: evaluated, summaryJson, writes };
  }

  /** Writes the events of one request, either an account change or a ping. */
  putBundle(writes: WriteSet, bundle: Omit<EventBundle, 'id' | 'createdMs'>): EventBundle {
    const { createdMs, letters } = this.#bundleIds.next();
    const complete = { id: letters, createdMs, ...bundle };
    this.#deps.events.put(writes, complete);
    if (this.#deps.hasSubscriber(complete)) writes.publish(complete.id);
    return complete;
  }

  #evaluate(after: Aggregate, reason: ChangeReason): StoredAccount {
    const { account, persons } = after;
    if (account.isClosed) return withoutRequirements(account);
    const { clock, random, encryptor, derive } = this.#deps;
    const result = derive({
      account,
      persons,
      platform: reason.settings,
      nowMs: reason.asOfMs ?? clock.nowMs(),
      newEntryId: () => `reqent_${randomLetters(random, 16)}`,
      digest: (text) => encryptor.digest(text),
      ...(reason.outcomes && { outcomes: reason.outcomes }),
      ...(reason.completesPendingChecks !== undefined && {
        completesPendingChecks: reason.completesPendingChecks,
      }),
    });
    const { reject, ...rest } = result;
    return { ...account, ...rest, overrides: { ...account.overrides, reject } };
  }

  #putPersons(writes: WriteSet, before: readonly StoredPerson[], after: Aggregate): void {
    const was = new Map(before.map((person) => [person.id, person]));
    const isNow = new Set(after.persons.map((person) => person.id));
    for (const person of after.persons) {
      if (was.get(person.id) === person) continue;
      writes.put('accounts_persons', toPersonRow(person, after.account, this.#deps.encryptor));
    }
    for (const { id } of before) if (!isNow.has(id)) writes.delete('accounts_persons', id);
  }

  #putEvents(
    writes: WriteSet,
    { account }: Aggregate,
    events: readonly EventDraft[],
    reason: ChangeReason,
  ): void {
    const person = events.find(({ target }) => target.kind === 'person');
    this.putBundle(writes, {
      tenant: { platform: account.platform, livemode: account.livemode },
      subjectId: account.id,
      personId: person?.target.id,
      request: reason.request,
      events,
    });
  }
}

/** Whether a change affects stored data that only the next evaluation uses. */
function hasHiddenChange(before: StoredAccount, after: StoredAccount): boolean {
  return (
    before.nextEvaluationMs !== after.nextEvaluationMs ||
    !isSame(before.verifications, after.verifications) ||
    !isSame(before.operatorRequirements, after.operatorRequirements) ||
    !isSame(before.overrides, after.overrides) ||
    !isSame(before.everActive, after.everActive)
  );
}

/** Removes all requirements, because a closed account has none. Source: accounts, section 7.2. */
function withoutRequirements(account: StoredAccount): StoredAccount {
  const { dashboard, defaults } = account.fields;
  const losses = defaults?.responsibilities?.losses_collector;
  const none: Requirements = {
    collector: requirementsCollectorOf({ dashboard, losses }),
    entries: [],
    alternatives: [],
  };
  return { ...account, requirements: none, futureRequirements: none, nextEvaluationMs: undefined };
}

import type { StoredAccount } from '../../model/account/account.js';
import { CONFIGURATION_NAMES } from '../../model/account/configuration-name.js';
import type { StoredPerson } from '../../model/account/person.js';
import type { CapabilityStatus, Requirements } from '../../model/account/requirements.js';
import type { EventDraft } from '../../model/events/event.js';
import { isSame } from '../../model/merge-fields.js';
import type { Aggregate } from '../../storage/account-store.js';

/**
 * Derives the events of one commit, in wire order, by comparing the states before and after.
 * Source: accounts, section 17.1.
 */
export function eventsOf(before: Aggregate | undefined, after: Aggregate): EventDraft[] {
  const { account } = after;
  const was = before?.account;
  const personEvents = personEventsOf(before?.persons ?? [], after.persons);
  const sections = sectionEventsOf(was, account, personEvents.length > 0);
  const changed = changedScalars(was, account);
  const isUpdated = sections.length > 0 || changed !== undefined || hasOtherTopChange(was, account);
  const first: EventDraft[] = [];
  if (was === undefined) first.push(accountEvent(account, 'v2.core.account.created'));
  if (isUpdated) {
    const event = accountEvent(account, 'v2.core.account.updated');
    first.push(was !== undefined && changed ? { ...event, changes: changed } : event);
  }
  if (account.isClosed && was?.isClosed !== true) {
    first.push(accountEvent(account, 'v2.core.account.closed'));
  }
  const beforePersons = sections.filter(({ type }) => !LAST_SECTIONS.test(type));
  const afterPersons = sections.filter(({ type }) => LAST_SECTIONS.test(type));
  return [...first, ...beforePersons, ...personEvents, ...afterPersons];
}

/** Events of requirements and statuses follow those of persons. */
const LAST_SECTIONS = /requirements\]|capability_status_updated$/;

function accountEvent(account: StoredAccount, type: string, section?: string): EventDraft {
  return {
    type,
    target: { kind: 'account', id: account.id, ...(section !== undefined && { section }) },
  };
}

function sectionEventsOf(
  was: StoredAccount | undefined,
  account: StoredAccount,
  havePersonsChanged: boolean,
): EventDraft[] {
  const updated = (section: string): EventDraft =>
    accountEvent(account, `v2.core.account[${section}].updated`, section);
  const events: EventDraft[] = [];
  for (const name of CONFIGURATION_NAMES) {
    const isSettingSame = isSame(
      was?.fields.configuration?.[name],
      account.fields.configuration?.[name],
    );
    if (!isSettingSame || !isSame(was?.applied[name], account.applied[name])) {
      events.push(updated(`configuration.${name}`));
    }
  }
  if (!isSame(was?.fields.defaults, account.fields.defaults)) events.push(updated('defaults'));
  if (havePersonsChanged || !isSame(was?.fields.identity, account.fields.identity)) {
    events.push(updated('identity'));
  }
  if (!haveSameEntries(was?.requirements, account.requirements)) {
    events.push(updated('requirements'));
  }
  if (!haveSameEntries(was?.futureRequirements, account.futureRequirements)) {
    events.push(updated('future_requirements'));
  }
  return [...events, ...statusEventsOf(was?.capabilities ?? {}, account)];
}

/** Whether both contain the same entries with the same deadlines and errors. */
function haveSameEntries(was: Requirements | undefined, now: Requirements): boolean {
  const before = was?.entries ?? [];
  if (before.length !== now.entries.length) return false;
  return now.entries.every((entry, index) =>
    isSame({ ...before[index], id: undefined }, { ...entry, id: undefined }),
  );
}

function statusEventsOf(
  was: Readonly<Record<string, CapabilityStatus>>,
  account: StoredAccount,
): EventDraft[] {
  const inOrder = CONFIGURATION_NAMES.flatMap((name) =>
    Object.entries(account.capabilities).filter(([key]) => key.startsWith(`${name}.`)),
  );
  return inOrder.flatMap(([key, { status }]): EventDraft[] => {
    if (Object.hasOwn(was, key) && was[key]?.status === status) return [];
    const [configuration = '', ...rest] = key.split('.');
    const section = `configuration.${configuration}`;
    const type = `v2.core.account[${section}].capability_status_updated`;
    const { target } = accountEvent(account, type, section);
    return [{ type, target, data: { updated_capability: rest.join('.') } }];
  });
}

function personEventsOf(
  before: readonly StoredPerson[],
  after: readonly StoredPerson[],
): EventDraft[] {
  const was = new Map(before.map((person) => [person.id, person]));
  const isNow = new Set(after.map((person) => person.id));
  const event = (person: StoredPerson, verb: string): EventDraft => ({
    type: `v2.core.account_person.${verb}`,
    target: { kind: 'person', id: person.id, accountId: person.accountId },
    data: { account_id: person.accountId },
  });
  const changed = after.flatMap((person): EventDraft[] => {
    const old = was.get(person.id);
    if (old === undefined) return [event(person, 'created')];
    return isSame(old.fields, person.fields) ? [] : [event(person, 'updated')];
  });
  const deleted = before.filter((person) => !isNow.has(person.id));
  return [...changed, ...deleted.map((person) => event(person, 'deleted'))];
}

type Scalars = { closed?: boolean; [name: string]: unknown };
const SCALARS = ['contact_email', 'contact_phone', 'dashboard', 'display_name'] as const;

/** Returns the top-level scalars that differ, with old and new values. */
function changedScalars(
  was: StoredAccount | undefined,
  account: StoredAccount,
): EventDraft['changes'] | undefined {
  if (was === undefined) return undefined;
  const before: Scalars = {};
  const after: Scalars = {};
  for (const name of SCALARS) {
    if (was.fields[name] === account.fields[name]) continue;
    before[name] = was.fields[name] ?? null;
    after[name] = account.fields[name] ?? null;
  }
  if (was.isClosed !== account.isClosed) {
    before.closed = was.isClosed;
    after.closed = account.isClosed;
  }
  return Object.keys(after).length === 0 ? undefined : { before, after };
}

const hasOtherTopChange = (was: StoredAccount | undefined, account: StoredAccount): boolean =>
  was !== undefined && !isSame(was.fields.metadata, account.fields.metadata);

import type { Tenant } from '@plinth/console-core/api/accounts.js';
import type { Account, Requirement } from '@plinth/console-core/lib/account.js';
import {
  byDeadline,
  capabilitiesOf,
  fieldName,
  reasonText,
  requirementSummary,
  statusText,
} from '@plinth/console-core/lib/account-text.js';
import { isAtField } from '@plinth/console-core/lib/form/field-groups.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Dialog } from '../../components/controls/dialog.js';
import { Fact } from '../../components/controls/fact.js';
import { AccountData } from './account-data.js';
import { CapabilityChip } from './accounts-page.js';
import { PersonDrawer } from './persons-tab.js';
import { useRequestFields } from './use-request-fields.js';

/** Missing requirements of an account, and the reasons for inactive capabilities. */
export function AccountOverview(props: { readonly tenant: Tenant; readonly account: Account }) {
  const { tenant, account } = props;
  const entries = account.requirements?.entries ?? [];
  const future = account.future_requirements?.entries ?? [];
  const capabilities = capabilitiesOf(account);
  return (
    <>
      <dl className="facts card">
        <Fact name="Email" value={account.contact_email ?? 'none'} />
        <Fact name="Phone" value={account.contact_phone ?? 'none'} />
        <Fact name="Country" value={account.identity?.country ?? 'none'} />
        <Fact name="Type" value={statusText(account.identity?.entity_type ?? 'none')} />
        <Fact name="Created (UTC)" value={timeText(account.created)} />
        {capabilities.length > 0 && (
          <div>
            <dt>Capabilities</dt>
            <dd className="row wrap">
              {capabilities.map(({ configuration, capability, status }) => (
                <span key={`${configuration}.${capability}`} className="row">
                  <code>{capability}</code> <CapabilityChip status={status} />
                </span>
              ))}
            </dd>
          </div>
        )}
      </dl>
      <section className="stack" aria-labelledby="requirements-title">
        <h2 id="requirements-title">Requirements: {requirementSummary(entries)}</h2>
        <Requirements
          {...{ tenant, account, entries }}
          empty="No requirements. All requested capabilities have the data that they need."
        />
      </section>
      <section className="stack" aria-labelledby="capabilities-title">
        <h2 id="capabilities-title">Capabilities</h2>
        <DataTable
          label="Capabilities"
          rows={capabilities}
          keyOf={({ configuration, capability }) => `${configuration}.${capability}`}
          columns={[
            {
              title: 'Capability',
              cell: ({ configuration, capability }) => (
                <>
                  <span className="soft">{configuration}</span> <code>{capability}</code>
                </>
              ),
            },
            { title: 'Status', cell: ({ status }) => <CapabilityChip status={status} /> },
            {
              title: 'Why',
              className: 'wide',
              cell: (capability) => reasonText(capability) || '–',
            },
          ]}
          empty="No capabilities requested."
        />
      </section>
      {future.length > 0 && (
        <section className="stack" aria-labelledby="future-title">
          <h2 id="future-title">Future requirements</h2>
          <Requirements {...{ tenant, account }} entries={future} empty="" />
        </section>
      )}
    </>
  );
}

/** An account can have 500 persons with several requirements each. */
const SHOWN_STEP = 100;

function Requirements(props: {
  readonly tenant: Tenant;
  readonly account: Account;
  readonly entries: readonly Requirement[];
  readonly empty: string;
}) {
  const { tenant, account, entries, empty } = props;
  const { fields = [] } = useRequestFields('AccountUpdate');
  const [shownCount, setShownCount] = useState(SHOWN_STEP);
  const [filling, setFilling] = useState<Requirement | undefined>();
  const canFill = ({ awaiting_action_from, description, reference }: Requirement): boolean =>
    awaiting_action_from === 'user' &&
    !account.closed &&
    (isOfPerson(description) ||
      reference?.type === 'person' ||
      fields.some((field) => isAtField(field, description)));
  const alternatives = account.requirements?.alternatives ?? [];
  const orOf = (description: string): string =>
    alternatives
      .filter(({ original_entries }) =>
        original_entries.some((entry) => entry.description === description),
      )
      .flatMap(({ options }) =>
        options.map((option) =>
          option.entries.map((each) => fieldName(each.description)).join(' and '),
        ),
      )
      .map((text) => `, or ${text}`)
      .join('');
  return (
    <>
      <DataTable
        label="Requirements"
        rows={byDeadline(entries).slice(0, shownCount)}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Field',
            className: 'wide',
            cell: ({ description, errors }) => (
              <>
                {fieldName(description)}
                {orOf(description)}
                <div className="hint soft">
                  <code>{description}</code>
                </div>
                {errors.map((error) => (
                  <div key={error.code} className="field-error">
                    {error.description}
                  </div>
                ))}
              </>
            ),
          },
          {
            title: 'Due',
            className: 'nowrap',
            cell: ({ minimum_deadline: { status, time } }) => (
              <>
                <span
                  className={`chip ${status === 'past_due' ? 'bad' : status === 'currently_due' ? 'warn' : ''}`}
                >
                  {statusText(status)}
                </span>{' '}
                {time?.slice(0, 10)}
              </>
            ),
          },
          {
            title: 'Awaiting action from',
            cell: ({ awaiting_action_from }) => awaiting_action_from,
          },
          {
            title: 'Blocks',
            cell: ({ impact }) =>
              impact.restricts_capabilities.map(({ capability }) => capability).join(', ') || '–',
          },
          {
            ...ACTIONS,
            cell: (entry) =>
              canFill(entry) && (
                <button
                  type="button"
                  className="button small"
                  aria-label={`Fill ${fieldName(entry.description)}`}
                  onClick={() => setFilling(entry)}
                >
                  Fill
                </button>
              ),
          },
        ]}
        empty={empty}
      />
      {entries.length > shownCount && (
        <p className="hint soft row" role="status">
          {countText(shownCount)} of {countText(entries.length)} requirements
          <button
            type="button"
            className="button small"
            onClick={() => setShownCount(shownCount + SHOWN_STEP)}
          >
            Show more
          </button>
        </p>
      )}
      {filling && (
        <Fill {...{ tenant, account }} entry={filling} onClose={() => setFilling(undefined)} />
      )}
    </>
  );
}

/** A requirement for a person that does not exist yet, such as `relationship.representative`. */
const isOfPerson = (description: string): boolean => /^relationship\b/.test(description);

/** Only the fields of one requirement. */
function Fill(props: {
  readonly tenant: Tenant;
  readonly account: Account;
  readonly entry: Requirement;
  readonly onClose: () => void;
}) {
  const { tenant, account, entry, onClose } = props;
  const { description, reference } = entry;
  if (reference?.type === 'person')
    return (
      <PersonDrawer {...{ tenant, account, onClose }} id={reference.resource} only={description} />
    );
  if (isOfPerson(description)) return <PersonDrawer {...{ tenant, account, onClose }} id="new" />;
  return (
    <Dialog title={fieldName(description)} isOpen isDrawer onClose={onClose}>
      <AccountData {...{ tenant, account }} only={description} onSaved={onClose} />
    </Dialog>
  );
}

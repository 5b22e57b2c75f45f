import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { closeAccount, fetchAccount } from '../../api/accounts.js';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { CopyBox, CopyButton } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import type { Account, Requirement } from '../../lib/account.js';
import {
  byDeadline,
  capabilitiesOf,
  fieldName,
  requirementSummary,
  statusText,
} from '../../lib/account-text.js';
import { CapabilityChip } from './accounts-page.js';

/** What an account still owes, and why a capability is not active. */
export function AccountPage() {
  const { platform = '', account: id = '' } = useParams({ strict: false }) as Record<
    string,
    string
  >;
  const { tab = '' } = useSearch({ strict: false }) as Record<string, string>;
  const [isClosing, setIsClosing] = useState(false);
  const found = useQuery({
    queryKey: ['accounts', 'account', platform, id],
    queryFn: () => fetchAccount(platform, id),
  });
  const { changed } = useChanges('accounts');
  const { data } = found;
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/accounts" search={{ platform }}>
            Accounts
          </Link>
        </nav>
        <h1 tabIndex={-1}>{data?.display_name ?? id}</h1>
        <code>{id}</code>
        <CopyButton text={id} label="Copy id" />
        {data && <span className="chip">{data.livemode ? 'live' : 'test'}</span>}
        {data?.closed && <span className="chip warn">closed</span>}
        {data && !data.closed && (
          <button type="button" className="button end" onClick={() => setIsClosing(true)}>
            Close account …
          </button>
        )}
      </header>
      <QueryProblem of={found} />
      <nav className="tabs" aria-label="Account sections">
        {[
          ['', 'Overview'],
          ['raw', 'Raw'],
        ].map(([value = '', label]) => (
          <Link
            key={value}
            to="/accounts/$platform/$account"
            params={{ platform, account: id }}
            search={value === '' ? {} : { tab: value }}
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={tab === value ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {data && tab === '' && <Overview account={data} />}
      {data && tab === 'raw' && (
        <CopyBox label="Copy the account" text={JSON.stringify(data, null, 2)} />
      )}
      {isClosing && data && (
        <ConfirmDelete
          what="account"
          verb="Close"
          name={data.id}
          loss="A closed account cannot be changed or reopened."
          onClose={() => setIsClosing(false)}
          act={async () => {
            await closeAccount(platform, data.id);
            await changed(`${data.id} closed`);
          }}
        />
      )}
    </div>
  );
}

function Overview({ account }: { readonly account: Account }) {
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
        <Fact name="Created (UTC)" value={account.created.slice(0, 19).replace('T', ' ')} />
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
          account={account}
          entries={entries}
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
              cell: ({ details, restrictedBy }) =>
                [
                  ...details.map(
                    ({ code, resolution }) => `${statusText(code)} (${statusText(resolution)})`,
                  ),
                  ...restrictedBy.map(({ description }) => fieldName(description)),
                ].join(', ') || '–',
            },
          ]}
          empty="No capabilities requested."
        />
      </section>
      {future.length > 0 && (
        <section className="stack" aria-labelledby="future-title">
          <h2 id="future-title">Future requirements</h2>
          <Requirements account={account} entries={future} empty="" />
        </section>
      )}
    </>
  );
}

function Requirements(props: {
  readonly account: Account;
  readonly entries: readonly Requirement[];
  readonly empty: string;
}) {
  const { account, entries, empty } = props;
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
    <DataTable
      label="Requirements"
      rows={byDeadline(entries)}
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
        { title: 'Action by', cell: ({ awaiting_action_from }) => awaiting_action_from },
        {
          title: 'Blocks',
          cell: ({ impact }) =>
            impact.restricts_capabilities.map(({ capability }) => capability).join(', ') || '–',
        },
      ]}
      empty={empty}
    />
  );
}

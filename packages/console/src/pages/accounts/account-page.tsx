import { closeAccount, fetchAccount } from '@plinth/console-core/api/accounts.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { CopyBox, CopyButton } from '../../components/controls/copy-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { AccountData } from './account-data.js';
import { AccountOverview } from './account-overview.js';
import { EventsTab } from './events-tab.js';
import { OperatorTab } from './operator-tab.js';
import { PersonsTab } from './persons-tab.js';

const TABS = [
  ['', 'Overview'],
  ['data', 'Data'],
  ['persons', 'Persons'],
  ['events', 'Events'],
  ['raw', 'Raw'],
  ['operator', 'Operator'],
] as const;

/** Shows and edits one account. */
export function AccountPage() {
  const { platform = '', account: id = '' } = useParams({ strict: false }) as Record<
    string,
    string
  >;
  const { tab = '', person = '' } = useSearch({ strict: false }) as Record<string, string>;
  const [isClosing, setIsClosing] = useState(false);
  const found = useQuery({
    queryKey: ['accounts', 'account', platform, id],
    queryFn: () => fetchAccount(platform, id),
  });
  const { changed } = useChanges('accounts');
  const { data } = found;
  const tenant = { platform, isLive: data?.livemode ?? false };
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
        {TABS.map(([value, label]) => (
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
      {data && tab === '' && <AccountOverview tenant={tenant} account={data} />}
      {data && tab === 'data' && <AccountData tenant={tenant} account={data} />}
      {data && tab === 'persons' && <PersonsTab tenant={tenant} account={data} />}
      {data && tab === 'events' && <EventsTab tenant={tenant} account={data} person={person} />}
      {data && tab === 'raw' && (
        <CopyBox label="Copy the account" text={JSON.stringify(data, null, 2)} />
      )}
      {data && tab === 'operator' && <OperatorTab platform={platform} account={data} />}
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

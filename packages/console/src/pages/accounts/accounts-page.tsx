import { fetchAccount, fetchAccounts } from '@plinth/console-core/api/accounts.js';
import type { AccountRow } from '@plinth/console-core/lib/account.js';
import {
  capabilitiesOf,
  requirementSummary,
  statusText,
} from '@plinth/console-core/lib/account-text.js';
import { countOf, countText, timeText } from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/controls/data-table.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { SearchBox, SearchCheckbox } from '../../components/search/search-fields.js';
import { CreateAccount } from './account-data.js';
import { ModeSwitch } from './mode-switch.js';
import { usePlatform } from './use-platform.js';

/** The details of each account are fetched with their own request. */
const MAX_DETAILED = 20;

/** Lists the accounts of a platform. */
export function AccountsPage() {
  const { find = '', closed = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const { platforms, platform, isLive } = usePlatform();
  const [isCreating, setIsCreating] = useState(false);
  const pages = useInfiniteQuery({
    queryKey: ['accounts', 'list', platform, isLive, closed],
    queryFn: ({ pageParam }) =>
      fetchAccounts(platform, { livemode: isLive, closed: closed === '1', page: pageParam }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled: platform !== '',
  });
  const loaded = pages.data?.pages.flatMap((page) => page.rows) ?? [];
  const searchText = find.trim().toLowerCase();
  const shown = loaded.filter(({ id, display_name, contact_email }) =>
    `${id} ${display_name ?? ''} ${contact_email ?? ''}`.toLowerCase().includes(searchText),
  );
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Accounts</h1>
        <ModeSwitch platforms={platforms.data ?? []} />
        <SearchBox label="Find account" placeholder="Find account" />
        <SearchCheckbox label="Closed" name="closed" />
        <span className="row wrap end">
          <Link to="/accounts/clocks" search={{ platform }} className="button">
            Test clocks
          </Link>
          <Link to="/accounts/keys" search={{ platform }} className="button">
            API keys
          </Link>
          <Link to="/accounts/settings" search={{ platform }} className="button">
            Settings
          </Link>
          <button
            type="button"
            className="button primary"
            disabled={platform === ''}
            onClick={() => setIsCreating(true)}
          >
            <Icon name="plus" size={14} /> Create account
          </button>
        </span>
      </header>
      <QueryProblem of={platforms} />
      <QueryProblem of={pages} />
      <DataTable
        label="Accounts"
        rows={pages.isSuccess ? shown : undefined}
        keyOf={({ id }) => id}
        onOpen={({ id }) =>
          void navigate({ to: '/accounts/$platform/$account', params: { platform, account: id } })
        }
        columns={[
          {
            title: 'Account',
            cell: ({ id, display_name }) => (
              <Link to="/accounts/$platform/$account" params={{ platform, account: id }}>
                {display_name ?? id}
              </Link>
            ),
          },
          { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          { title: 'Email', cell: ({ contact_email }) => contact_email ?? '–' },
          {
            title: 'Configurations',
            cell: ({ applied_configurations }) => applied_configurations.join(', ') || '–',
          },
          {
            title: 'Capabilities',
            cell: ({ id }, index) =>
              index < MAX_DETAILED && <Detail platform={platform} id={id} part="capabilities" />,
          },
          {
            title: 'Requirements',
            cell: ({ id }, index) =>
              index < MAX_DETAILED && <Detail platform={platform} id={id} part="requirements" />,
          },
          {
            title: 'Created (UTC)',
            className: 'nowrap',
            cell: ({ created }) => timeText(created),
          },
        ]}
        empty={
          loaded.length > 0
            ? 'None of the loaded accounts match.'
            : 'No accounts yet. Create one here, or with an API key and a Stripe client library.'
        }
      />
      {loaded.length > 0 && (
        <p className="hint soft row" role="status">
          {pages.hasNextPage
            ? `${countText(shown.length)} of ${countText(loaded.length)} loaded accounts`
            : countOf(shown.length, 'account')}
          <ShowMore pages={pages} />
        </p>
      )}
      {isCreating && (
        <CreateAccount tenant={{ platform, isLive }} onClose={() => setIsCreating(false)} />
      )}
    </div>
  );
}

const WORST = ['restricted', 'pending', 'unsupported', 'inactive', 'active'];

function Detail(props: {
  readonly platform: string;
  readonly id: AccountRow['id'];
  readonly part: 'capabilities' | 'requirements';
}) {
  const { platform, id, part } = props;
  const { data } = useQuery({
    queryKey: ['accounts', 'account', platform, id],
    queryFn: () => fetchAccount(platform, id),
  });
  if (data === undefined) return null;
  if (part === 'requirements') return requirementSummary(data.requirements?.entries ?? []);
  const found = capabilitiesOf(data).map(({ status }) => status);
  const worst = WORST.find((status) => found.includes(status));
  return worst === undefined ? '–' : <CapabilityChip status={worst} />;
}

export function CapabilityChip({ status }: { readonly status: string }) {
  const style = status === 'active' ? 'good' : status === 'pending' ? 'warn' : 'bad';
  return (
    <span className={`chip ${style}`}>
      {status === 'active' ? '✓' : status === 'pending' ? '◷' : '✕'} {statusText(status)}
    </span>
  );
}

import {
  createKey,
  fetchKeys,
  type PlatformKey,
  revokeKey,
} from '@plinth/console-core/api/accounts.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { usePlatform } from './use-platform.js';

const dateOf = (text: string | null): string => (text === null ? 'never' : timeText(text));

/** The API keys of a platform. */
export function AccountKeysPage() {
  const { platform } = usePlatform();
  const [isCreating, setIsCreating] = useState(false);
  const [going, setGoing] = useState<PlatformKey | undefined>();
  const keys = useQuery({
    queryKey: ['accounts', 'keys', platform],
    queryFn: () => fetchKeys(platform),
    enabled: platform !== '',
  });
  const { changed } = useChanges('accounts');
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/accounts" search={{ platform }}>
            Accounts
          </Link>
        </nav>
        <h1 tabIndex={-1}>API keys</h1>
        <button type="button" className="button primary end" onClick={() => setIsCreating(true)}>
          <Icon name="plus" size={14} /> Create key
        </button>
      </header>
      <QueryProblem of={keys} />
      <DataTable
        label="API keys"
        rows={keys.data}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Mode', cell: ({ livemode }) => (livemode ? 'live' : 'test') },
          { title: 'Ends with', cell: ({ last4 }) => <code>…{last4}</code> },
          { title: 'Created (UTC)', className: 'nowrap', cell: ({ created }) => dateOf(created) },
          {
            title: 'Last used (UTC)',
            className: 'nowrap',
            cell: ({ last_used_at }) => dateOf(last_used_at),
          },
          {
            title: 'Expires (UTC)',
            className: 'nowrap',
            cell: ({ expires_at, revoked_at }) =>
              revoked_at === null ? dateOf(expires_at) : <span className="chip warn">revoked</span>,
          },
          {
            ...ACTIONS,
            cell: (key) =>
              key.revoked_at === null && (
                <button
                  type="button"
                  className="button small"
                  aria-label={`Revoke key ${key.last4}`}
                  onClick={() => setGoing(key)}
                >
                  Revoke
                </button>
              ),
          },
        ]}
        empty="No API keys yet. Create a key for your Stripe client library."
      />
      {isCreating && (
        <CreateKey
          platform={platform}
          onClose={() => {
            setIsCreating(false);
            void changed('API keys updated');
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="key"
          verb="Revoke"
          name={going.last4}
          loss="Clients that use this key lose access immediately."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await revokeKey(platform, going.id);
            await changed('Key revoked');
          }}
        />
      )}
    </div>
  );
}

function CreateKey({
  platform,
  onClose,
}: {
  readonly platform: string;
  readonly onClose: () => void;
}) {
  const [kind, setKind] = useState('secret');
  const [isLive, setIsLive] = useState(false);
  // The key is kept only in this component.
  const [key, setKey] = useState('');
  if (key !== '') return <SecretDialog title="API key" secret={key} onClose={onClose} />;
  return (
    <FormDialog
      title="Create key"
      action="Create"
      canAct
      act={async () => setKey((await createKey(platform, { kind, livemode: isLive })).value)}
      onClose={onClose}
    >
      <fieldset className="field choice">
        <legend className="label">Kind</legend>
        {['secret', 'publishable'].map((each) => (
          <label key={each} className="row">
            <input type="radio" checked={kind === each} onChange={() => setKind(each)} />
            {each}
          </label>
        ))}
      </fieldset>
      <label className="row">
        <input
          type="checkbox"
          checked={isLive}
          onChange={(event) => setIsLive(event.target.checked)}
        />
        Live mode
      </label>
    </FormDialog>
  );
}

import {
  attributesOf,
  CREDENTIALS,
  deleteIdentity,
  endCredential,
  fetchIdentities,
  type Identity,
} from '@plinth/console-core/api/identities.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { CopyButton } from '../../components/controls/copy-button.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import { CredentialDialog } from './credential-dialog.js';
import { IdentityDialog } from './identity-dialog.js';

type Open =
  | { readonly kind: 'create' | 'end' }
  | { readonly kind: 'change' | 'credential' | 'delete'; readonly identity: Identity };

/** Lists the identities that rate limits apply to, such as users and installations, and manages their credentials. */
export function IdentitiesPage() {
  const [open, setOpen] = useState<Open | undefined>();
  const pages = useInfiniteQuery({
    queryKey: ['identities'],
    queryFn: ({ pageParam }) => fetchIdentities(pageParam),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const identities = pages.data?.pages.flatMap((page) => page.identities) ?? [];
  const close = () => setOpen(undefined);
  const { changed } = useChanges('identities');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Identities</h1>
        <span className="row end">
          <button type="button" className="button" onClick={() => setOpen({ kind: 'end' })}>
            Revoke credential{' '}
          </button>
          <button
            type="button"
            className="button primary"
            onClick={() => setOpen({ kind: 'create' })}
          >
            <Icon name="plus" size={14} /> Create identity
          </button>
        </span>
      </header>
      <SectionTabs section="/tokens" />
      <QueryProblem of={pages} />
      <DataTable
        label="Identities"
        rows={pages.isSuccess ? identities : undefined}
        empty="No identities yet. An identity is a user, organization, installation, OAuth app or repository with its own rate limits."
        keyOf={(identity) => identity.key}
        columns={[
          {
            title: 'Identity',
            className: 'nowrap',
            cell: (identity) => (
              <span className="row">
                <code>{identity.key}</code>
                <CopyButton text={identity.key} label={`Copy ${identity.key}`} />
              </span>
            ),
          },
          {
            title: 'Kind',
            className: 'nowrap',
            cell: (identity) => identity.kind.replace('_', ' '),
          },
          {
            title: 'Attributes',
            className: 'wide',
            cell: (identity) => <code>{attributesText(identity)}</code>,
          },
          {
            title: 'Created (UTC)',
            className: 'nowrap',
            cell: (identity) => timeText(identity.created_at),
          },
          {
            ...ACTIONS,
            cell: (identity) => (
              <MenuButton
                label={`Actions for ${identity.key}`}
                className="small quiet"
                entries={[
                  ...(CREDENTIALS[identity.kind] === undefined
                    ? []
                    : [
                        {
                          id: 'credential',
                          label: 'Create credential …',
                          act: () => setOpen({ kind: 'credential', identity }),
                        },
                      ]),
                  {
                    id: 'change',
                    label: 'Edit …',
                    act: () => setOpen({ kind: 'change', identity }),
                  },
                  {
                    id: 'delete',
                    label: 'Delete …',
                    act: () => setOpen({ kind: 'delete', identity }),
                  },
                ]}
              >
                …
              </MenuButton>
            ),
          },
        ]}
      />
      {identities.length > 0 && (
        <p className="hint soft row" role="status">
          {countText(identities.length)} {pages.hasNextPage ? 'loaded' : 'in total'}
          <ShowMore pages={pages} />
        </p>
      )}
      {open?.kind === 'create' && <IdentityDialog onDone={changed} onClose={close} />}
      {open?.kind === 'change' && (
        <IdentityDialog identity={open.identity} onDone={changed} onClose={close} />
      )}
      {open?.kind === 'credential' && <CredentialDialog identity={open.identity} onClose={close} />}
      {open?.kind === 'end' && <EndCredential onClose={close} />}
      {open?.kind === 'delete' && (
        <ConfirmDelete
          what="identity"
          name={open.identity.key}
          loss="Its credentials are revoked immediately."
          onClose={close}
          act={async () => {
            await deleteIdentity(open.identity.key);
            await changed(`${open.identity.key} deleted`);
          }}
        />
      )}
    </div>
  );
}

function attributesText(identity: Identity): string {
  const entries = Object.entries(attributesOf(identity));
  return entries.map(([name, value]) => `${name}=${textOf(value)}`).join(' ') || '–';
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Credentials cannot be listed, because only their hashes are stored. They are revoked by the id
 * shown on creation.
 */
function EndCredential({ onClose }: { readonly onClose: () => void }) {
  const [id, setId] = useState('');
  const isRight = /^[1-9]\d*$/.test(id.trim());
  return (
    <FormDialog
      title="Revoke credential"
      action="Revoke"
      isDanger
      canAct={isRight}
      act={async () => {
        await endCredential(id.trim());
        toast(`Credential ${id.trim()} revoked`);
        onClose();
      }}
      onClose={onClose}
    >
      <TextField
        label="Credential id"
        isCode
        value={id}
        onChange={setId}
        mistake={id === '' || isRight ? undefined : 'Enter a positive integer.'}
        hint="The id that was shown when the credential was created."
      />
    </FormDialog>
  );
}

import { createToken, deleteToken, fetchTokens } from '@plinth/console-core/api/tsdb.js';
import { parsePermissions, permissionsText } from '@plinth/console-core/lib/permissions.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { durationText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { CopyBox } from '../../components/controls/copy-button.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { DeleteButton } from '../../components/controls/delete-button.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import { useServer } from '../../components/shell/server-context.js';

const OPERATOR = '_admin';

/** Lists the admin tokens and the tokens with permissions. */
export function TokensPage() {
  const { auth } = useServer();
  const client = useQueryClient();
  const { create = '' } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const isCreating = create === '1';
  const setIsCreating = (isOpen: boolean) =>
    void navigate({ to: '/tokens', search: isOpen ? { create: '1' } : {}, replace: true });
  const [going, setGoing] = useState<string | undefined>();
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: fetchTokens, enabled: auth });
  const refresh = () => client.invalidateQueries({ queryKey: ['tokens'] });
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Tokens</h1>
        {auth && (
          <button type="button" className="button primary end" onClick={() => setIsCreating(true)}>
            <Icon name="plus" size={14} /> Create token
          </button>
        )}
      </header>
      <SectionTabs section="/tokens" />
      {!auth && (
        <p className="card empty soft">
          Authentication is disabled: the server was started with --without-auth, so there are no
          tokens to manage.
        </p>
      )}
      <QueryProblem of={tokens} />
      {tokens.data && (
        <DataTable
          label="Tokens"
          rows={tokens.data}
          keyOf={(token) => token.token_id}
          columns={[
            { title: 'Id', className: 'num', cell: (token) => String(token.token_id) },
            {
              title: 'Name',
              cell: (token) => (
                <>
                  {token.name} {token.name === OPERATOR && <span className="chip">operator</span>}
                </>
              ),
            },
            {
              title: 'Permissions',
              cell: (token) => <code>{permissionsText(token.permissions)}</code>,
            },
            {
              title: 'Created (UTC)',
              className: 'nowrap',
              cell: (token) => timeText(token.created_at),
            },
            {
              title: 'Expires (UTC)',
              className: 'nowrap',
              cell: (token) => (
                <>
                  {token.expiry ? timeText(token.expiry) : 'never'}{' '}
                  {token.expiry && isPast(token.expiry) && (
                    <span className="chip warn">expired</span>
                  )}
                </>
              ),
            },
            {
              title: 'Last used (UTC)',
              className: 'nowrap',
              cell: (token) => (token.last_used_at ? timeText(token.last_used_at) : 'never'),
            },
            { title: 'Hash prefix', cell: (token) => <code>{token.hash.slice(0, 12)}</code> },
            {
              ...ACTIONS,
              cell: (token) => (
                <>
                  {token.name !== OPERATOR && (
                    <DeleteButton name={token.name} onClick={() => setGoing(token.name)} />
                  )}
                </>
              ),
            },
          ]}
        />
      )}
      {auth && (
        <section className="stack" aria-labelledby="shell-title">
          <h2 id="shell-title">From the command line</h2>
          <CopyBox
            label="Copy command"
            text="plinth token create grafana --permission 'db:*:read' --expires-in 90d"
          />
        </section>
      )}
      {isCreating && (
        <CreateToken
          onClose={() => {
            setIsCreating(false);
            void refresh();
          }}
        />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="token"
          name={going}
          loss="Clients that use this token lose access immediately."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deleteToken(going);
            await refresh();
            toast(`${going} deleted`);
          }}
        />
      )}
    </div>
  );
}

const isPast = (text: string): boolean =>
  Date.parse(/Z|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`) < Date.now();

function CreateToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('');
  const [isAdmin, setIsAdmin] = useState(false);
  const [may, setMay] = useState('');
  // The token is kept only in this component.
  const [token, setToken] = useState('');
  const seconds = expiry.trim() === '' ? undefined : parseDuration(expiry);
  const isExpiryRight = expiry.trim() === '' || seconds !== undefined;
  const permissions = isAdmin ? [] : parsePermissions(may);
  const isMayRight = permissions !== undefined && (isAdmin || permissions.length > 0);
  if (token !== '')
    return <SecretDialog title={`Token ${name}`} secret={token} onClose={onClose} />;
  return (
    <FormDialog
      title="Create token"
      action="Create"
      canAct={name !== '' && isExpiryRight && isMayRight}
      act={async () => {
        if (permissions === undefined) return;
        setToken((await createToken(name, { expirySec: seconds, permissions })).token);
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        maxLength={255}
        value={name}
        onChange={setName}
        hint="The user or program that uses the token, such as grafana or backup."
      />
      <fieldset className="field choice">
        <legend className="label">Access</legend>
        <label className="row">
          <input type="radio" checked={!isAdmin} onChange={() => setIsAdmin(false)} />
          Limited access
        </label>
        <label className="row">
          <input type="radio" checked={isAdmin} onChange={() => setIsAdmin(true)} />
          Full access (admin){' '}
        </label>
      </fieldset>
      {!isAdmin && (
        <TextField
          label="Permissions"
          isCode
          placeholder="db:home:read,write"
          value={may}
          onChange={setMay}
          mistake={
            permissions === undefined
              ? 'Invalid permission; use db:NAME,NAME:read,write or system:health:read.'
              : undefined
          }
          hint="db:*:read grants read access to all databases. Separate permissions with spaces."
        />
      )}
      <TextField
        label="Expires after"
        isCode
        placeholder="90d (empty: never)"
        value={expiry}
        onChange={setExpiry}
        mistake={
          isExpiryRight ? undefined : 'Invalid duration; use a value such as 90d, 12h or 1d 6h.'
        }
        hint={seconds === undefined ? 'Never expires.' : `Expires after ${durationText(seconds)}.`}
      />
    </FormDialog>
  );
}

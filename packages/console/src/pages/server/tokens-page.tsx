import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createToken, deleteToken, fetchTokens } from '../../api/tsdb.js';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { CopyBox, CopyButton } from '../../components/controls/copy-button.js';
import { Dialog } from '../../components/controls/dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { toast } from '../../components/controls/toasts.js';
import { useServer } from '../../components/shell/server-context.js';
import { parsePermissions, permissionsText } from '../../lib/permissions.js';
import { parseDuration } from '../../lib/time/duration.js';
import { durationText } from '../../lib/units.js';

const OPERATOR = '_admin';

/** Tokens: those of admins, which may do everything, and those with permissions. */
export function TokensPage() {
  const { auth } = useServer();
  const client = useQueryClient();
  const [isCreating, setIsCreating] = useState(false);
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
      {!auth && (
        <p className="card empty soft">
          This server asks for no token, so there are none to manage: it was started with
          --without-auth.
        </p>
      )}
      {tokens.isError && <ProblemNote error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {tokens.data && (
        <TableWrap label="Tokens">
          <thead>
            <tr>
              <th className="num">Id</th>
              <th>Name</th>
              <th>May</th>
              <th>Created (UTC)</th>
              <th>Expires (UTC)</th>
              <th>Hash begins</th>
              <th>
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.data.map((token) => (
              <tr key={token.token_id}>
                <td className="num">{String(token.token_id)}</td>
                <td>
                  {token.name}{' '}
                  {token.name === OPERATOR && <span className="chip">the first one</span>}
                </td>
                <td>
                  <code>{permissionsText(token.permissions)}</code>
                </td>
                <td className="nowrap">{dateOf(token.created_at)}</td>
                <td className="nowrap">
                  {token.expiry ? dateOf(token.expiry) : 'never'}{' '}
                  {token.expiry && isPast(token.expiry) && (
                    <span className="chip warn">expired</span>
                  )}
                </td>
                <td>
                  <code>{token.hash.slice(0, 12)}</code>
                </td>
                <td className="num">
                  {token.name !== OPERATOR && (
                    <button
                      type="button"
                      className="button icon small quiet"
                      aria-label={`Delete ${token.name}`}
                      onClick={() => setGoing(token.name)}
                    >
                      <Icon name="trash" size={14} />
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </TableWrap>
      )}
      {auth && (
        <section className="stack" aria-labelledby="shell-title">
          <h2 id="shell-title">In a shell</h2>
          <CopyBox
            label="Copy the command"
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
          loss="Whoever uses it is refused from then on."
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

const dateOf = (text: string): string => text.slice(0, 19).replace('T', ' ');
const isPast = (text: string): boolean =>
  Date.parse(/Z|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`) < Date.now();

function CreateToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('');
  const [may, setMay] = useState('');
  // Nowhere but here.
  const [token, setToken] = useState('');
  const [isStored, setIsStored] = useState(false);
  const [error, setError] = useState<unknown>();
  const seconds = expiry.trim() === '' ? undefined : parseDuration(expiry);
  const isExpiryRight = expiry.trim() === '' || seconds !== undefined;
  const permissions = parsePermissions(may);
  const isRight = name !== '' && isExpiryRight && permissions !== undefined;
  const create = async () => {
    if (permissions === undefined) return;
    try {
      setToken((await createToken(name, { expirySec: seconds, permissions })).token);
    } catch (failure) {
      setError(failure);
    }
  };
  if (token !== '') {
    return (
      <Dialog title={`Token ${name}`} isOpen isFirm onClose={onClose}>
        <p>It is shown this once and cannot be read again.</p>
        <div className="copy-box">
          <pre>{token}</pre>
        </div>
        <div className="row wrap">
          <CopyButton
            text={token}
            label="Copy"
            isSmall={false}
            showsWord
            className="primary"
            onCopied={() => setIsStored(true)}
          />
          <label className="row">
            <input
              type="checkbox"
              checked={isStored}
              onChange={(event) => setIsStored(event.target.checked)}
            />
            I have stored it
          </label>
          <button type="button" className="button end" disabled={!isStored} onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Create token" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight) void create();
        }}
      >
        <div className="field">
          <label htmlFor="token-name">Name</label>
          <input
            id="token-name"
            className="input"
            autoFocus
            maxLength={255}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <span className="hint">Who will use it: grafana, backup, a colleague.</span>
        </div>
        <div className="field">
          <label htmlFor="token-may">May</label>
          <input
            id="token-may"
            className="input mono"
            placeholder="db:home:read,write; empty: everything"
            aria-invalid={permissions === undefined}
            value={may}
            onChange={(event) => setMay(event.target.value)}
          />
          <span className={permissions === undefined ? 'field-error' : 'hint'} role="status">
            {permissions === undefined
              ? 'A permission is db:NAME,NAME:read,write or system:health:read.'
              : permissions.length === 0
                ? 'An admin token, which may do everything. db:*:read reads all databases.'
                : 'It may do this, and nothing else.'}
          </span>
        </div>
        <div className="field">
          <label htmlFor="token-expiry">Expires after</label>
          <input
            id="token-expiry"
            className="input mono"
            placeholder="90d; empty: never"
            aria-invalid={!isExpiryRight}
            value={expiry}
            onChange={(event) => setExpiry(event.target.value)}
          />
          <span className={isExpiryRight ? 'hint' : 'field-error'} role="status">
            {!isExpiryRight
              ? 'This is no duration: 90d, 12h or 1d 6h.'
              : seconds === undefined
                ? 'It never expires.'
                : `It is refused after ${durationText(seconds)}.`}
          </span>
        </div>
        {error !== undefined && <ProblemNote error={error} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!isRight}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

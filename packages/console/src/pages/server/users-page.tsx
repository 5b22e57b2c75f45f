import { fetchDatabases } from '@plinth/console-core/api/tsdb.js';
import {
  createUser,
  deleteUser,
  fetchUsers,
  type Grant,
  grant,
  PRIVILEGES,
  type Privilege,
  revoke,
  setPassword,
  type User,
} from '@plinth/console-core/api/users.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'password' | 'grant' | 'delete'; readonly user: User };

const PRIVILEGE_LABELS: Readonly<Record<Privilege, string>> = {
  READ: 'read',
  WRITE: 'write',
  ALL: 'read and write',
};

/** Lists the InfluxDB 1.x users, for clients that log in with a username and a password. */
export function UsersPage() {
  const [open, setOpen] = useState<Open | undefined>();
  const users = useQuery({ queryKey: ['users'], queryFn: fetchUsers });
  const close = () => setOpen(undefined);
  const { act, changed } = useChanges('users');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>InfluxDB 1.x users</h1>
        <button
          type="button"
          className="button primary end"
          onClick={() => setOpen({ kind: 'create' })}
        >
          <Icon name="plus" size={14} /> Create user
        </button>
      </header>
      <SectionTabs section="/tokens" />
      <QueryProblem of={users} />
      <DataTable
        label="Users"
        rows={users.data}
        keyOf={(user) => user.name}
        columns={[
          { title: 'Name', cell: (user) => user.name },
          { title: 'Access', className: 'wide', cell: (user) => <code>{mayText(user)}</code> },
          {
            ...ACTIONS,
            cell: (user) => (
              <MenuButton
                label={`Actions for ${user.name}`}
                className="small quiet"
                entries={[
                  {
                    id: 'grant',
                    label: 'Grant …',
                    act: () => setOpen({ kind: 'grant', user }),
                  },
                  ...user.grants.map(({ database, privilege }, index) => ({
                    id: `revoke-${index}`,
                    label: `Revoke access to ${database}`,
                    act: () =>
                      void act(
                        () => revoke(user.name, privilegeOf(privilege), database),
                        `Access to ${database} revoked`,
                      ),
                  })),
                  user.isAdmin
                    ? {
                        id: 'no-admin',
                        label: 'Remove admin access',
                        act: () =>
                          void act(
                            () => revoke(user.name, 'ALL'),
                            `Admin access removed from ${user.name}`,
                          ),
                      }
                    : {
                        id: 'admin',
                        label: 'Grant admin access',
                        hint: 'all databases and statements',
                        act: () =>
                          void act(
                            () => grant(user.name, 'ALL'),
                            `Admin access granted to ${user.name}`,
                          ),
                      },
                  {
                    id: 'password',
                    label: 'Change password …',
                    act: () => setOpen({ kind: 'password', user }),
                  },
                  {
                    id: 'delete',
                    label: 'Delete …',
                    act: () => setOpen({ kind: 'delete', user }),
                  },
                ]}
              >
                …
              </MenuButton>
            ),
          },
        ]}
        empty="No users yet. InfluxDB 1.x clients that log in with a username and password need one."
      />
      {open?.kind === 'create' && <PasswordDialog onDone={changed} onClose={close} />}
      {open?.kind === 'password' && (
        <PasswordDialog user={open.user} onDone={changed} onClose={close} />
      )}
      {open?.kind === 'grant' && <GrantDialog user={open.user} onDone={changed} onClose={close} />}
      {open?.kind === 'delete' && (
        <ConfirmDelete
          what="user"
          name={open.user.name}
          loss="Clients that log in with this name lose access immediately."
          onClose={close}
          act={async () => {
            await deleteUser(open.user.name);
            await changed(`${open.user.name} deleted`);
          }}
        />
      )}
    </div>
  );
}

function mayText({ isAdmin, grants }: User): string {
  if (isAdmin) return 'full access (admin)';
  const grantTexts = grants.map(
    (each: Grant) => `${each.database}: ${PRIVILEGE_LABELS[privilegeOf(each.privilege)]}`,
  );
  return grantTexts.length === 0 ? 'no access' : grantTexts.join(', ');
}

const privilegeOf = (text: string): Privilege =>
  PRIVILEGES.find((each) => text.startsWith(each)) ?? 'ALL';

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A password of 24 letters and digits that cannot be confused with each other: more than 128 bits. */
function newPassword(): string {
  let password = '';
  while (password.length < 24) {
    // Bytes beyond the last multiple of the alphabet would make some letters more likely.
    for (const byte of crypto.getRandomValues(new Uint8Array(32)))
      if (byte < LETTERS.length * 4 && password.length < 24)
        password += LETTERS[byte % LETTERS.length];
  }
  return password;
}

/** Creates a user or sets a user's password. A generated password is shown only once. */
function PasswordDialog(props: {
  readonly user?: User;
  readonly onDone: (text: string) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { user, onDone, onClose } = props;
  const [name, setName] = useState(user?.name ?? '');
  const [isAdmin, setIsAdmin] = useState(false);
  const [typed, setTyped] = useState('');
  const [made, setMade] = useState('');
  if (made !== '')
    return <SecretDialog title={`Password for ${name}`} secret={made} onClose={onClose} />;
  return (
    <FormDialog
      title={user === undefined ? 'Create user' : `Change password for ${name}`}
      action={user === undefined ? 'Create' : 'Set password'}
      canAct={name !== ''}
      act={async () => {
        const password = typed === '' ? newPassword() : typed;
        if (user === undefined) await createUser(name, password, isAdmin);
        else await setPassword(name, password);
        await onDone(user === undefined ? `${name} created` : `Password for ${name} changed`);
        if (typed === '') setMade(password);
        else onClose();
      }}
      onClose={onClose}
    >
      {user === undefined && (
        <TextField label="Name" maxLength={255} value={name} onChange={setName} />
      )}
      <TextField
        label="Password"
        isSecret
        value={typed}
        onChange={setTyped}
        hint="Leave empty to generate a password, which is shown once."
      />
      {user === undefined && (
        <label className="row">
          <input
            type="checkbox"
            checked={isAdmin}
            onChange={(event) => setIsAdmin(event.target.checked)}
          />
          Admin: all databases and statements
        </label>
      )}
    </FormDialog>
  );
}

function GrantDialog(props: {
  readonly user: User;
  readonly onDone: (text: string) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { user, onDone, onClose } = props;
  const databases = useQuery({ queryKey: ['tsdb', 'databases'], queryFn: () => fetchDatabases() });
  const names = (databases.data ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== '_internal');
  const [chosen, setChosen] = useState('');
  const [privilege, setPrivilege] = useState<Privilege>('READ');
  const database = chosen === '' ? (names[0] ?? '') : chosen;
  return (
    <FormDialog
      title={`Grant access to ${user.name}`}
      action="Grant"
      canAct={database !== ''}
      act={async () => {
        await grant(user.name, privilege, database);
        await onDone(`Access to ${database} granted`);
        onClose();
      }}
      onClose={onClose}
    >
      <label className="field">
        <span className="label">Database</span>
        <select
          className="input"
          value={database}
          onChange={(event) => setChosen(event.target.value)}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <fieldset className="field choice">
        <legend className="label">Privilege</legend>
        {PRIVILEGES.map((each) => (
          <label key={each} className="row">
            <input type="radio" checked={privilege === each} onChange={() => setPrivilege(each)} />
            {PRIVILEGE_LABELS[each]}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}

import {
  createAccount,
  fetchAccountToEdit,
  saveAccount,
  type Tenant,
} from '@plinth/console-core/api/accounts.js';
import type { Account } from '@plinth/console-core/lib/account.js';
import { isAtField } from '@plinth/console-core/lib/form/field-groups.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '../../components/controls/dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { ObjectEditor } from './object-editor.js';
import { useRequestFields } from './use-request-fields.js';

const CLOSED = 'A closed account cannot be changed';

/** The data of an account, or with `only` the fields at and below one path. */
export function AccountData(props: {
  readonly tenant: Tenant;
  readonly account: Account;
  readonly only?: string;
  readonly onSaved?: () => void;
}) {
  const { tenant, account, only, onSaved } = props;
  const { schemas, fields } = useRequestFields('AccountUpdate');
  const fetchStored = () => fetchAccountToEdit(tenant, account.id);
  const stored = useQuery({
    queryKey: ['accounts', 'edited', tenant.platform, account.id],
    queryFn: fetchStored,
  });
  const { changed } = useChanges('accounts');
  const shown = fields?.filter((field) => only === undefined || isAtField(field, only));
  return (
    <>
      <QueryProblem of={schemas} />
      <QueryProblem of={stored} />
      {shown && stored.data && (
        <ObjectEditor
          what="account"
          draftKey={`account ${account.id} ${only ?? ''}`}
          fields={shown}
          stored={stored.data}
          action="Save"
          refusal={account.closed ? CLOSED : undefined}
          fetchStored={fetchStored}
          save={async (change) => {
            await saveAccount(tenant, account.id, change);
            onSaved?.();
            await changed('Account saved');
          }}
        />
      )}
    </>
  );
}

export function CreateAccount(props: { readonly tenant: Tenant; readonly onClose: () => void }) {
  const { tenant, onClose } = props;
  const { schemas, fields } = useRequestFields('AccountCreate');
  const navigate = useNavigate();
  const { changed } = useChanges('accounts');
  return (
    <Dialog
      title={`Create ${tenant.isLive ? 'live' : 'test'} account`}
      isOpen
      isDrawer
      onClose={onClose}
    >
      <QueryProblem of={schemas} />
      {fields && (
        <ObjectEditor
          what="account"
          draftKey={`new account ${tenant.platform} ${tenant.isLive}`}
          fields={fields}
          stored={undefined}
          action="Create account"
          save={async ({ body }) => {
            const { id } = await createAccount(tenant, body);
            onClose();
            await changed('Account created');
            const params = { platform: tenant.platform, account: id };
            await navigate({ to: '/accounts/$platform/$account', params });
          }}
        />
      )}
    </Dialog>
  );
}

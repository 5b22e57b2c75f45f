import {
  CREDENTIALS,
  type Credential,
  createCredential,
  type Identity,
  isOfApp,
} from '@plinth/console-core/api/identities.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { durationText } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';

/** Creates a credential for an identity. The token is shown only once. */
export function CredentialDialog(props: {
  readonly identity: Identity;
  readonly onClose: () => void;
}) {
  const { identity, onClose } = props;
  const kinds = CREDENTIALS[identity.kind] ?? [];
  const [kind, setKind] = useState(kinds[0] ?? '');
  const [app, setApp] = useState('');
  const [expiry, setExpiry] = useState('');
  const [made, setMade] = useState<Credential>();
  const seconds = expiry.trim() === '' ? undefined : parseDuration(expiry);
  const isExpiryRight = expiry.trim() === '' || seconds !== undefined;
  const needsApp = isOfApp(kind);
  if (made !== undefined) {
    return (
      <SecretDialog
        title={`Credential ${made.id} for ${identity.key}`}
        secret={made.token}
        note={`The credential has the id ${made.id}. You need the id to revoke the credential.`}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={`Create credential for ${identity.key}`}
      action="Create"
      canAct={isExpiryRight && (!needsApp || app !== '')}
      act={async () =>
        setMade(
          await createCredential({
            ...{ kind, identity: identity.key },
            ...(needsApp && { via_app: app }),
            ...(seconds !== undefined && { expires_in: seconds }),
          }),
        )
      }
      onClose={onClose}
    >
      <fieldset className="field choice">
        <legend className="label">Kind</legend>
        {kinds.map((each) => (
          <label key={each} className="row">
            <input type="radio" checked={kind === each} onChange={() => setKind(each)} />
            {each.replace('_', ' ')}
            {isOfApp(each) ? ', on behalf of an app' : ''}
          </label>
        ))}
      </fieldset>
      {needsApp && (
        <TextField
          label="App"
          isCode
          value={app}
          onChange={setApp}
          hint={kind === 'oauth' ? 'The id of an OAuth app.' : 'The id of a webhook app.'}
        />
      )}
      <TextField
        label="Expires after"
        isCode
        placeholder="90d (the default depends on the kind)"
        value={expiry}
        onChange={setExpiry}
        mistake={
          isExpiryRight ? undefined : 'Invalid duration; use a value such as 90d, 12h or 1d 6h.'
        }
        hint={seconds === undefined ? '' : `Expires after ${durationText(seconds)}.`}
      />
    </FormDialog>
  );
}

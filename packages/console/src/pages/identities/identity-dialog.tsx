import {
  type Attributes,
  attributesOf,
  changeIdentity,
  createIdentity,
  type Identity,
  type IdentityKind,
  KINDS,
} from '@plinth/console-core/api/identities.js';
import { useId, useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';

const EXAMPLES: Readonly<Record<IdentityKind, string>> = {
  user: '{"login": "octocat", "plan": "free"}',
  organization: '{"login": "octo-org", "users_count": 12}',
  installation: '{"account": {"type": "User", "id": 583231}, "repositories_count": 20}',
  oauth_app: '{"owner": {"type": "User", "id": 583231}}',
  repository: '{"owner": {"type": "User", "id": 583231}}',
};

/** Creates an identity, or edits the attributes of an existing one. */
export function IdentityDialog(props: {
  readonly identity?: Identity;
  readonly onDone: (text: string) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { identity, onDone, onClose } = props;
  const fieldId = useId();
  const [kind, setKind] = useState<IdentityKind>(identity?.kind ?? 'user');
  const [id, setId] = useState('');
  const [text, setText] = useState(
    identity === undefined ? '' : JSON.stringify(attributesOf(identity), undefined, 2),
  );
  const [made, setMade] = useState<{ readonly key: string; readonly secret: string }>();
  const attributes = readAttributes(text);
  const isApp = kind === 'oauth_app';
  const isIdRight = identity !== undefined || (isApp ? true : /^[1-9]\d{0,15}$/.test(id));
  if (made !== undefined)
    return (
      <SecretDialog
        title={`Client secret for ${made.key}`}
        secret={made.secret}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={identity === undefined ? 'Create identity' : `Edit ${identity.key}`}
      action={identity === undefined ? 'Create' : 'Save'}
      canAct={attributes !== undefined && isIdRight}
      act={async () => {
        if (attributes === undefined) return;
        if (identity !== undefined) {
          await changeIdentity(identity, attributes);
          await onDone(`${identity.key} updated`);
          onClose();
          return;
        }
        const { key, secret } = await createIdentity(kind, id, attributes);
        await onDone(`${key} created`);
        if (secret === undefined) onClose();
        else setMade({ key, secret });
      }}
      onClose={onClose}
    >
      {identity === undefined && (
        <label className="field">
          <span className="label">Kind</span>
          <select
            className="input"
            value={kind}
            onChange={({ target }) =>
              setKind(KINDS.find((each) => each === target.value) ?? 'user')
            }
          >
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {each.replace('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      )}
      {identity === undefined && (
        <TextField
          label="Id"
          isCode
          value={id}
          onChange={setId}
          mistake={id === '' || isIdRight ? undefined : 'Enter a positive integer.'}
          hint={isApp ? 'Leave empty to generate an id.' : 'A positive integer.'}
        />
      )}
      <div className="field">
        <label htmlFor={fieldId}>Attributes</label>
        <textarea
          id={fieldId}
          className="input"
          rows={6}
          spellCheck={false}
          placeholder={EXAMPLES[kind]}
          aria-invalid={attributes === undefined}
          aria-describedby={`${fieldId}-hint`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span
          id={`${fieldId}-hint`}
          className={attributes === undefined ? 'field-error' : 'hint'}
          role="status"
        >
          {attributes === undefined
            ? 'Invalid attributes; enter a JSON object.'
            : identity === undefined
              ? 'A JSON object.'
              : 'A JSON object. Attributes that you delete here are removed from the identity.'}
        </span>
      </div>
    </FormDialog>
  );
}

function readAttributes(text: string): Attributes | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Attributes)
      : undefined;
  } catch {
    return undefined;
  }
}

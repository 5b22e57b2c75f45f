import {
  addRequirement,
  applyDueChanges,
  fetchOperatorSide,
  type OperatorSide,
  removeRequirement,
  saveAccountState,
} from '@plinth/console-core/api/accounts.js';
import type { Account } from '@plinth/console-core/lib/account.js';
import { capabilitiesOf, statusText } from '@plinth/console-core/lib/account-text.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { ObjectEditor } from './object-editor.js';
import { useRequestFields } from './use-request-fields.js';

const CLOSED = 'A closed account cannot be changed';

interface TabProps {
  readonly platform: string;
  readonly account: Account;
}

/** What only operators can see and do: facts, requirements and outcomes of verifications. */
export function OperatorTab({ platform, account }: TabProps) {
  const side = useQuery({
    queryKey: ['accounts', 'operator', platform, account.id],
    queryFn: () => fetchOperatorSide(platform, account.id),
  });
  const { act } = useChanges('accounts');
  const { data } = side;
  return (
    <>
      <div className="row wrap">
        <span className="chip warn">operator</span>
        <span className="soft">
          Platforms cannot see or change these values.
          {data && ` Next change that depends on time: ${data.due ? timeText(data.due) : 'none'}.`}
        </span>
        <button
          type="button"
          className="button end"
          title="For all accounts of the platform"
          onClick={() => void act(() => applyDueChanges(platform), 'Due changes applied')}
        >
          Apply due changes
        </button>
      </div>
      <QueryProblem of={side} />
      {data && (
        <>
          <AddedRequirements {...{ platform, account }} side={data} />
          <Verifications {...{ platform, account }} side={data} />
          <State {...{ platform, account }} side={data} />
        </>
      )}
    </>
  );
}

interface SectionProps extends TabProps {
  readonly side: OperatorSide;
}

function State({ platform, account, side }: SectionProps) {
  const { schemas, fields } = useRequestFields('AccountState');
  const { changed } = useChanges('accounts');
  const stored = useMemo(() => ({ object: side.state, etag: '' }), [side.state]);
  return (
    <section className="stack" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <QueryProblem of={schemas} />
      {fields && (
        <ObjectEditor
          what="account"
          draftKey={`state ${account.id}`}
          fields={fields}
          stored={stored}
          action="Save state"
          refusal={account.closed ? CLOSED : undefined}
          save={async ({ body }) => {
            await saveAccountState(platform, account.id, body);
            await changed('State saved');
          }}
        />
      )}
    </section>
  );
}

function AddedRequirements({ platform, account, side }: SectionProps) {
  const [isAdding, setIsAdding] = useState(false);
  const { act } = useChanges('accounts');
  const refusal = account.closed ? CLOSED : undefined;
  return (
    <section className="stack" aria-labelledby="added-title">
      <div className="row">
        <h2 id="added-title">Added requirements</h2>
        <button
          type="button"
          className="button end"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => setIsAdding(true)}
        >
          Add requirement …
        </button>
      </div>
      <DataTable
        label="Added requirements"
        rows={side.injected_requirements}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Field',
            className: 'wide',
            cell: ({ description }) => <code>{description}</code>,
          },
          {
            title: 'Awaiting action from',
            cell: ({ awaiting_action_from }) => awaiting_action_from,
          },
          {
            title: 'Blocks',
            cell: ({ restricts }) =>
              restricts
                .map(({ capability, status }) => `${capability} (${statusText(status)})`)
                .join(', '),
          },
          {
            ...ACTIONS,
            cell: ({ id, description }) => (
              <button
                type="button"
                className="button small"
                aria-label={`Remove ${description}`}
                disabled={refusal !== undefined}
                title={refusal}
                onClick={() =>
                  void act(() => removeRequirement(platform, account.id, id), 'Requirement removed')
                }
              >
                Remove
              </button>
            ),
          },
        ]}
        empty="No added requirements. Add one to request data that the account does not owe yet."
      />
      {isAdding && <AddRequirement {...{ platform, account }} onClose={() => setIsAdding(false)} />}
    </section>
  );
}

const STATUSES = ['past_due', 'currently_due', 'eventually_due'];

function AddRequirement(props: TabProps & { readonly onClose: () => void }) {
  const { platform, account, onClose } = props;
  const { changed } = useChanges('accounts');
  const capabilities = capabilitiesOf(account);
  const [description, setDescription] = useState('');
  const [from, setFrom] = useState('user');
  const [chosen, setChosen] = useState(0);
  const [status, setStatus] = useState('currently_due');
  const target = capabilities[chosen];
  return (
    <FormDialog
      title="Add requirement"
      action="Add"
      canAct={description.trim() !== '' && target !== undefined}
      onClose={onClose}
      act={async () => {
        if (target === undefined) return;
        const { configuration, capability } = target;
        await addRequirement(platform, account.id, {
          description: description.trim(),
          awaiting_action_from: from,
          restricts: [{ configuration, capability, status }],
        });
        onClose();
        await changed('Requirement added');
      }}
    >
      <TextField
        label="Field"
        isCode
        value={description}
        onChange={setDescription}
        placeholder="identity.business_details.phone"
        hint="The path of the missing value. The requirement ends when the platform writes it."
      />
      <Choice
        label="Awaiting action from"
        value={from}
        choices={['user', 'vendor'].map((each) => [each, each])}
        onChange={setFrom}
      />
      <Choice
        label="Blocks"
        value={String(chosen)}
        choices={capabilities.map((each, index) => [
          String(index),
          `${each.configuration}: ${each.capability}`,
        ])}
        onChange={(index) => setChosen(Number(index))}
      />
      {capabilities.length === 0 && (
        <p className="note">The account has no capability that a requirement can block.</p>
      )}
      <Choice
        label="Deadline"
        value={status}
        choices={STATUSES.map((each) => [each, statusText(each)])}
        onChange={setStatus}
      />
    </FormDialog>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <select
        id={id}
        className="input"
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      >
        {props.choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The code of a verification that an operator rejects. */
const FAILED = 'verification_failed_other';

function Verifications({ platform, account, side }: SectionProps) {
  const { act } = useChanges('accounts');
  const refusal = account.closed ? CLOSED : undefined;
  const decide = (target: string, outcome: string) =>
    act(
      () => saveAccountState(platform, account.id, { verify: { target, outcome } }),
      'Outcome saved',
    );
  return (
    <section className="stack" aria-labelledby="verifications-title">
      <h2 id="verifications-title">Verifications</h2>
      <DataTable
        label="Verifications"
        rows={side.verifications}
        keyOf={({ target }) => target}
        columns={[
          { title: 'Target', className: 'wide', cell: ({ target }) => <code>{target}</code> },
          {
            title: 'Status',
            cell: ({ status, code }) => (
              <>
                <span
                  className={`chip ${status === 'failed' ? 'bad' : status === 'pending' ? 'warn' : ''}`}
                >
                  {status}
                </span>{' '}
                {code && <code>{code}</code>}
              </>
            ),
          },
          {
            ...ACTIONS,
            cell: ({ target }) => (
              <span className="row">
                {[
                  ['Verify', 'success'],
                  ['Reject', FAILED],
                ].map(([label = '', outcome = '']) => (
                  <button
                    key={label}
                    type="button"
                    className="button small"
                    aria-label={`${label} ${target}`}
                    disabled={refusal !== undefined}
                    title={refusal}
                    onClick={() => void decide(target, outcome)}
                  >
                    {label}
                  </button>
                ))}
              </span>
            ),
          },
        ]}
        empty="No verifications. They appear when the platform sends data that needs one."
      />
    </section>
  );
}

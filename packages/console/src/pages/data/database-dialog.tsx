import type { Database, DatabaseSettings, IntegerFields } from '@plinth/console-core/api/tsdb.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { durationText } from '@plinth/console-core/lib/units.js';
import { useId, useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { TextField } from '../../components/controls/text-field.js';

/** The dialog that creates a database or changes the settings of one. */
export function DatabaseDialog(props: {
  readonly title: string;
  readonly action: string;
  /** Set when the settings of an existing database are changed. */
  readonly database?: Database;
  readonly onClose: () => void;
  readonly act: (name: string, settings: DatabaseSettings) => Promise<void>;
}) {
  const { title, action, database, onClose, act } = props;
  const [name, setName] = useState(database?.name ?? '');
  const [integerFields, setIntegerFields] = useState(database?.integer_fields ?? 'integer');
  const retentionNs = database?.retention_ns;
  const isPolicy = name.includes('/');
  const [retention, setRetention] = useState(
    retentionNs == null ? '' : `${BigInt(retentionNs) / 1_000_000_000n}s`,
  );
  const seconds = retention.trim() === '' ? undefined : parseDuration(retention);
  const isRetentionRight = retention.trim() === '' || seconds !== undefined;
  return (
    <FormDialog
      title={title}
      action={action}
      canAct={name !== '' && isRetentionRight}
      act={async () => {
        await act(name, { retention: retention.trim(), ...(!isPolicy && { integerFields }) });
        onClose();
      }}
      onClose={onClose}
    >
      {database === undefined && (
        <TextField
          label="Name"
          isCode
          maxLength={64}
          value={name}
          onChange={setName}
          hint={
            <>
              Up to 64 letters, digits, <code>_</code>, <code>-</code> and <code>/</code>.
            </>
          }
        />
      )}
      <TextField
        label="Retention"
        isCode
        placeholder="30d (empty: keep forever)"
        value={retention}
        onChange={setRetention}
        mistake={
          isRetentionRight ? undefined : 'Invalid duration; use a value such as 30d, 12h or 1d 6h.'
        }
        hint={
          seconds === undefined
            ? 'Rows are kept forever.'
            : `Rows older than ${durationText(seconds)} are hidden, then deleted.`
        }
      />
      {!isPolicy && <IntegerFieldsChoice value={integerFields} onChange={setIntegerFields} />}
    </FormDialog>
  );
}

function IntegerFieldsChoice(props: {
  readonly value: IntegerFields;
  readonly onChange: (value: IntegerFields) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>New integer fields</label>
      <select
        id={id}
        className="input"
        aria-describedby={`${id}-hint`}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as IntegerFields)} // one of the options
      >
        <option value="integer">Integer columns</option>
        <option value="float">Float columns</option>
      </select>
      <span id={`${id}-hint`} className="hint">
        {props.value === 'float'
          ? 'Float columns accept integers. Integers above 2^53 lose digits. Existing integer columns do not change.'
          : 'The first value of a field determines its type: an integer field rejects floats, and a float field rejects integers.'}
      </span>
    </div>
  );
}

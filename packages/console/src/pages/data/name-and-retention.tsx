import { useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { parseDuration } from '../../lib/time/duration.js';
import { durationText } from '../../lib/units.js';

/** The dialog that creates a database or changes the retention of one. */
export function NameAndRetention(props: {
  readonly title: string;
  readonly action: string;
  /** Set when the retention of an existing database is changed. */
  readonly name?: string;
  readonly retentionNs?: string | null;
  readonly onClose: () => void;
  readonly act: (name: string, retention: string) => Promise<void>;
}) {
  const { title, action, name: given, retentionNs, onClose, act } = props;
  const [name, setName] = useState(given ?? '');
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
        await act(name, retention.trim());
        onClose();
      }}
      onClose={onClose}
    >
      {given === undefined && (
        <TextField
          label="Name"
          isCode
          maxLength={64}
          value={name}
          onChange={setName}
          hint={
            <>
              Letters, digits, <code>_</code>, <code>-</code> and <code>/</code>; at most 64.
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
          isRetentionRight ? undefined : 'Invalid duration; use a form such as 30d, 12h or 1d 6h.'
        }
        hint={
          seconds === undefined
            ? 'Rows are kept forever.'
            : `Rows older than ${durationText(seconds)} are hidden, then deleted.`
        }
      />
    </FormDialog>
  );
}

import { useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { TextField } from './text-field.js';

/** Confirms a deletion by the name of the object. */
export function ConfirmDelete(props: {
  readonly what: string;
  readonly name: string;
  /** One sentence that describes the lost data. */
  readonly loss: string;
  readonly onClose: () => void;
  readonly act: () => Promise<unknown>;
}) {
  const { what, name, loss, onClose, act } = props;
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      title={`Delete ${what} ${name}`}
      action={`Delete ${what}`}
      doing="Deleting …"
      isDanger
      canAct={typed === name}
      act={async () => {
        await act();
        onClose();
      }}
      onClose={onClose}
    >
      <p>{loss}</p>
      <TextField
        label={
          <>
            Type <code>{name}</code> to confirm
          </>
        }
        isCode
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}

import { useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { TextField } from './text-field.js';

/** Confirms a deletion, or another action that cannot be undone, by the name of the object. */
export function ConfirmDelete(props: {
  readonly what: string;
  /** The verb of the action; “Delete” by default. */
  readonly verb?: string;
  readonly name: string;
  /** One sentence that describes the lost data. */
  readonly loss: string;
  readonly onClose: () => void;
  readonly act: () => Promise<unknown>;
}) {
  const { what, verb = 'Delete', name, loss, onClose, act } = props;
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      title={`${verb} ${what} ${name}`}
      action={`${verb} ${what}`}
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

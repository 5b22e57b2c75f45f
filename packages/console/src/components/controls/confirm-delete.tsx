import { useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { TextField } from './text-field.js';

/** Asks for the name of what goes for good; Cancel is what the keyboard does. */
export function ConfirmDelete(props: {
  readonly what: string;
  readonly name: string;
  /** What is lost with it, in a sentence. */
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
            Type <code>{name}</code> to go on
          </>
        }
        isCode
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}

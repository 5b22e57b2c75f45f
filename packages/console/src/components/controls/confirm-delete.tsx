import { useState } from 'react';
import { Dialog } from './dialog.js';
import { ProblemNote } from './problem-note.js';

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
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const submit = async () => {
    setIsBusy(true);
    try {
      await act();
      onClose();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={`Delete ${what} ${name}`} isOpen onClose={onClose}>
      <p>{loss}</p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) void submit();
        }}
      >
        <div className="field">
          <label htmlFor="confirm-name">
            Type <code>{name}</code> to go on
          </label>
          <input
            id="confirm-name"
            className="input mono"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        {error !== undefined && <ProblemNote error={error} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="button danger primary"
            disabled={typed !== name || isBusy}
          >
            {isBusy ? 'Deleting …' : `Delete ${what}`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Dialog } from './dialog.js';
import { ProblemNote } from './problem-note.js';

/** A dialog of fields, the first of which has the keyboard: Enter does what its button does, once at a time, and what fails is told where the fields are. */
export function FormDialog(props: {
  readonly title: string;
  /** The word on its button, and the one while it is done. */
  readonly action: string;
  readonly doing?: string;
  readonly isDanger?: boolean;
  readonly canAct: boolean;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { title, action, doing = action, isDanger = false, canAct, act, onClose } = props;
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // A button that is off while it works loses the keyboard: what failed is put right in the fields.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failure gives it back.
  useEffect(() => form.current?.querySelector('input')?.focus(), [error]);
  const submit = async () => {
    setIsBusy(true);
    try {
      await act();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (canAct && !isBusy) void submit();
        }}
      >
        {props.children}
        {error !== undefined && <ProblemNote error={error} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={isDanger ? 'button danger primary' : 'button primary'}
            disabled={!canAct || isBusy}
          >
            {isBusy ? doing : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

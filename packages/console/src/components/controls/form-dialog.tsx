import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog } from './dialog.js';
import { ProblemNote } from './problem-note.js';
import { useTask } from './use-task.js';

/** A dialog with a form. The first field has the focus, Enter submits once, and errors are shown below the fields. */
export function FormDialog(props: {
  readonly title: string;
  /** The text of the submit button, and the one while the action runs. */
  readonly action: string;
  readonly doing?: string;
  readonly isDanger?: boolean;
  readonly canAct: boolean;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  /** Whether the form shows an error at one of its fields. Other errors are shown below them. */
  readonly isAtField?: (error: unknown) => boolean;
  /** The fields, or a function that renders them with the error of the last attempt. */
  readonly children: ReactNode | ((error: unknown) => ReactNode);
}) {
  const { title, action, doing = action, isDanger = false, canAct, act, onClose } = props;
  const { isAtField = () => false, children } = props;
  const { run, error, isBusy } = useTask();
  const form = useRef<HTMLFormElement>(null);
  // The disabled button has lost the focus, so after a failure it moves to the wrong or first field.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failure moves the focus.
  useEffect(() => {
    const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector);
    const first = find('[aria-invalid=true]') ?? find('input');
    (first ?? find(isDanger ? '[type=button]' : '[type=submit]'))?.focus();
  }, [error]);
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (canAct && !isBusy) void run(act);
        }}
      >
        {typeof children === 'function' ? children(error) : children}
        {error !== undefined && !isAtField(error) && <ProblemNote error={error} />}
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

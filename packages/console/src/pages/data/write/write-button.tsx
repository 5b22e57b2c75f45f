import { useId } from 'react';

/** Where it cannot be pressed, it says why. */
export function WriteButton(props: {
  readonly db: string;
  /** Columns are something else in the table. */
  readonly hasConflicts: boolean;
  readonly hasRows: boolean;
  readonly label: string;
  readonly onWrite: () => void;
}) {
  const { db, hasConflicts, hasRows, label, onWrite } = props;
  const id = useId();
  const reason =
    db === ''
      ? 'Write needs the name of a database.'
      : hasConflicts
        ? 'Columns that do not fit, above, have to be changed first.'
        : hasRows
          ? undefined
          : 'There is nothing to write.';
  return (
    <>
      {reason !== undefined && (
        <span id={id} className="hint soft">
          {reason}
        </span>
      )}
      <button
        type="button"
        className="button primary"
        disabled={reason !== undefined}
        aria-describedby={reason && id}
        onClick={onWrite}
      >
        {label}
      </button>
    </>
  );
}

import { useId } from 'react';

/** The write button; while it is disabled, the reason is shown next to it. */
export function WriteButton(props: {
  readonly db: string;
  /** Whether columns have other types in the table. */
  readonly hasConflicts: boolean;
  readonly hasRows: boolean;
  readonly label: string;
  readonly onWrite: () => void;
}) {
  const { db, hasConflicts, hasRows, label, onWrite } = props;
  const id = useId();
  const reason =
    db === ''
      ? 'Enter a database name.'
      : hasConflicts
        ? 'Resolve the column conflicts above first.'
        : hasRows
          ? undefined
          : 'Nothing to write.';
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

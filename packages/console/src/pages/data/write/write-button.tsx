import { useId } from 'react';
import type { SchemaChange } from '../../../lib/line-protocol/schema-change.js';

/** Where it cannot be pressed, it says why. */
export function WriteButton(props: {
  readonly db: string;
  readonly changes: readonly SchemaChange[];
  readonly hasRows: boolean;
  readonly label: string;
  readonly onWrite: () => void;
}) {
  const { db, changes, hasRows, label, onWrite } = props;
  const id = useId();
  const reason =
    db === ''
      ? 'Write needs the name of a database.'
      : changes.some(({ conflicts }) => conflicts.length > 0)
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

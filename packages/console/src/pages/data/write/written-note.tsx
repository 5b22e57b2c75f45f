import type { ReactNode } from 'react';

/** What was written, and the way to it. */
export function WrittenNote(props: {
  readonly children: ReactNode;
  readonly isWarning?: boolean;
  /** Absent where nothing was written. */
  readonly onQuery?: (() => void) | undefined;
}) {
  const { children, isWarning = false, onQuery } = props;
  return (
    <div className={isWarning ? 'note warn row wrap' : 'note row wrap'} role="status">
      <span>{children}</span>
      {onQuery && (
        <button type="button" className="button small" onClick={onQuery}>
          Query this table
        </button>
      )}
    </div>
  );
}

import { countOf } from '@plinth/console-core/lib/units.js';
import { type ReactNode, useEffect, useRef } from 'react';

/** The outcome of a write, with a link to the table. It receives the focus, because the pressed button may have been removed. */
export function WrittenNote(props: {
  readonly children: ReactNode;
  readonly isWarning?: boolean;
  readonly table: string | undefined;
  /** Absent when nothing was written. */
  readonly onQuery?: (() => void) | undefined;
}) {
  const { children, isWarning = false, table, onQuery } = props;
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => (note.current?.querySelector('button') ?? note.current)?.focus(), []);
  return (
    <div
      ref={note}
      className={isWarning ? 'note warn row wrap' : 'note row wrap'}
      role="status"
      tabIndex={-1}
    >
      <span>{children}</span>
      {onQuery && (
        <button type="button" className="button small" onClick={onQuery}>
          Query {table}
        </button>
      )}
    </div>
  );
}

/** Returns a sentence such as `2 rows written, 1 row rejected`. */
export function writtenText(
  noun: 'row' | 'line',
  counts: {
    readonly writtenCount: number;
    readonly refusedCount: number;
    /** The server has not listed all rejected rows. */
    readonly isOpen: boolean;
  },
): string {
  const { writtenCount, refusedCount, isOpen } = counts;
  const written = `${isOpen ? 'At most ' : ''}${countOf(writtenCount, noun)} written`;
  if (refusedCount === 0) return written;
  return `${written}, ${isOpen ? 'at least ' : ''}${countOf(refusedCount, noun)} rejected`;
}

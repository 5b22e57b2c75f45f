import type { ReactNode } from 'react';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { bytesText, countOf } from '../../../lib/units.js';
import { RefusedRows } from './refused-rows.js';
import type { CsvRunState } from './use-csv.js';
import { WrittenNote, writtenText } from './written-note.js';

/** Sends a file, tells how far it is, and what became of its rows. */
export function CsvSending(props: {
  readonly file: File;
  readonly state: CsvRunState;
  readonly table: string;
  /** Rows have times of their own. */
  readonly hasTime: boolean;
  /** What becomes of rows beside their number. */
  readonly fate: string;
  /** The button that begins. */
  readonly children: ReactNode;
  readonly onCancel: () => void;
  readonly onQuery: () => void;
}) {
  const { file, state, table, hasTime, fate, children, onCancel, onQuery } = props;
  const { phase, progress, error } = state;
  if (phase === 'running') {
    return (
      <div className="stack">
        <progress
          className="csv-progress"
          aria-label="Written"
          max={file.size}
          value={progress?.readBytes ?? 0}
        />
        <div className="row wrap">
          <span className="hint">
            {bytesText(progress?.readBytes ?? 0)} of {bytesText(file.size)},{' '}
            {countOf(progress?.writtenCount ?? 0, 'row')} written
          </span>
          <button type="button" className="button end" ref={focus} onClick={onCancel}>
            Cancel
          </button>
        </div>
      </div>
    );
  }
  const hasWritten = (progress?.writtenCount ?? 0) > 0;
  return (
    <div className="stack">
      {phase === 'failed' && <ProblemNote error={error} />}
      {phase !== 'idle' && (
        <WrittenNote
          isWarning={phase !== 'done' || (progress?.refusedCount ?? 0) > 0}
          table={table}
          onQuery={hasWritten ? onQuery : undefined}
        >
          {outcomeOf(state, hasTime, fate)}
        </WrittenNote>
      )}
      {progress !== undefined && <RefusedRows {...progress} />}
      <div className="dialog-actions">{children}</div>
    </div>
  );
}

/** What was pressed is gone. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

function outcomeOf({ phase, progress }: CsvRunState, hasTime: boolean, fate: string): string {
  const { writtenCount = 0, refusedCount = 0, isOpen = false } = progress ?? {};
  const written = writtenText('row', { writtenCount, refusedCount, isOpen });
  const merged = writtenCount > 1 ? fate : '';
  if (phase === 'done') return `${written}${merged}.`;
  const why = phase === 'cancelled' ? 'Cancelled' : 'Stopped';
  const again = hasTime ? '; writing the file again adds no row twice' : '';
  // The server goes on with a request that has come, whoever has left.
  const underway = phase === 'cancelled' ? ', and perhaps some that were on their way' : '';
  return `${why}: ${written}${underway}${merged}. What is written stays${again}.`;
}

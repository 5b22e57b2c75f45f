import { bytesText, countOf } from '@plinth/console-core/lib/units.js';
import type { ReactNode } from 'react';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { RefusedRows } from './refused-rows.js';
import type { CsvRunState } from './use-csv.js';
import { WrittenNote, writtenText } from './written-note.js';

/** Shows the progress and the outcome of a CSV write. */
export function CsvSending(props: {
  readonly file: File;
  readonly state: CsvRunState;
  readonly table: string;
  /** Whether the file has a time column. */
  readonly hasTime: boolean;
  /** A note about overwritten rows; empty when there are none. */
  readonly fate: string;
  /** The button that starts the write. */
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

/** Takes over the focus from the start button, which has been replaced. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

function outcomeOf({ phase, progress }: CsvRunState, hasTime: boolean, fate: string): string {
  const { writtenCount = 0, refusedCount = 0, isOpen = false } = progress ?? {};
  const written = writtenText('row', { writtenCount, refusedCount, isOpen });
  const merged = writtenCount > 1 ? fate : '';
  if (phase === 'done') return `${written}${merged}.`;
  const why = phase === 'cancelled' ? 'Canceled' : 'Stopped';
  const again = hasTime ? '; writing the file again does not duplicate rows' : '';
  // The server completes a request that it has received, even after a cancel.
  const inFlight = phase === 'cancelled' ? ', plus those of requests in progress' : '';
  return `${why}: ${written}${inFlight}${merged}. Written rows are kept${again}.`;
}

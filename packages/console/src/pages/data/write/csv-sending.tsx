import { ProblemNote } from '../../../components/controls/problem-note.js';
import { bytesText, countOf } from '../../../lib/units.js';
import { RefusedRows } from './refused-rows.js';
import type { CsvRunState } from './use-csv.js';
import { WrittenNote } from './written-note.js';

/** Sends a file, tells how far it is, and what became of its rows. */
export function CsvSending(props: {
  readonly file: File;
  readonly state: CsvRunState;
  readonly canWrite: boolean;
  /** Rows have times of their own. */
  readonly hasTime: boolean;
  readonly onWrite: () => void;
  readonly onCancel: () => void;
  readonly onQuery: () => void;
}) {
  const { file, state, canWrite, hasTime, onWrite, onCancel, onQuery } = props;
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
          <button type="button" className="button end" onClick={onCancel}>
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
          onQuery={hasWritten ? onQuery : undefined}
        >
          {outcomeOf(state, hasTime)}
        </WrittenNote>
      )}
      {progress !== undefined && <RefusedRows progress={progress} />}
      <div className="dialog-actions">
        <button type="button" className="button primary" disabled={!canWrite} onClick={onWrite}>
          {phase === 'idle' ? 'Write' : 'Write again'}
        </button>
      </div>
    </div>
  );
}

function outcomeOf({ phase, progress }: CsvRunState, hasTime: boolean): string {
  const { writtenCount = 0, refusedCount = 0, isOpen = false } = progress ?? {};
  const most = isOpen ? 'At most ' : '';
  const written = `${most}${countOf(writtenCount, 'row')} written`;
  const refused =
    refusedCount === 0 ? '' : `, ${isOpen ? 'at least ' : ''}${countOf(refusedCount, 'row')} not`;
  if (phase === 'done') return `${written}${refused}.`;
  const why = phase === 'cancelled' ? 'Cancelled' : 'Stopped';
  const again = hasTime ? '; writing the file again adds no row twice' : '';
  // The server goes on with a request that has come, whoever has left.
  const underway = phase === 'cancelled' ? ', and perhaps some that were on their way' : '';
  return `${why}: ${written}${refused}${underway}. What is written stays${again}.`;
}

import { bytesText, countOf } from '@plinth/console-core/lib/units.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { RefusedRows } from './refused-rows.js';
import type { CsvRunState } from './use-csv.js';

/** Shows the first points, and the rows of the file that cannot be written. */
export function CsvPreview(props: {
  readonly file: File;
  readonly preview: CsvRunState;
  readonly hasConflicts: boolean;
  /** A note about overwritten rows; empty when there are none. */
  readonly fate: string;
}) {
  const { file, preview, hasConflicts, fate } = props;
  const { progress, phase, error } = preview;
  if (phase === 'failed') return <ProblemNote error={error} />;
  if (progress === undefined) return null;
  const { rowCount, shortCount, refusedCount, lines, readBytes } = progress;
  return (
    <div className="stack csv-preview">
      {lines.length > 0 && (
        <section className="copy-box" aria-label="First lines">
          <pre>{lines.join('')}</pre>
        </section>
      )}
      <p className="hint" role="status">
        {countOf(rowCount, 'row')} can be written
        {hasConflicts && ' once the column conflicts are resolved'}
        {refusedCount > 0 && `, ${countOf(refusedCount, 'row')} cannot`}
        {rowCount > 1 && fate}
        {phase === 'running' && `: checked ${bytesText(readBytes)} of ${bytesText(file.size)} …`}
      </p>
      {shortCount > 0 && (
        <p className="hint">
          {countOf(shortCount, 'row')} {shortCount === 1 ? 'has' : 'have'} fewer values than
          columns; missing values are left empty
        </p>
      )}
      <RefusedRows {...progress} />
    </div>
  );
}

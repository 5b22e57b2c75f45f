import type { CsvProgress } from '../../../lib/line-protocol/messages.js';
import { countOf } from '../../../lib/units.js';

/** Rows that are no points, or that the server has not taken, by line of the file. */
export function RefusedRows({ progress }: { readonly progress: CsvProgress }) {
  const { refused, refusedCount } = progress;
  if (refused.length === 0) return null;
  const rows = [...refused].sort((a, b) => a.line - b.line);
  const hiddenCount = refusedCount - rows.length;
  return (
    <ul className="refused-rows" aria-label="Rows that are not written">
      {rows.map(({ line, message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one line may be refused for two reasons.
        <li key={index} className="field-error">
          line {line}: {message}
        </li>
      ))}
      {hiddenCount > 0 && <li className="hint">and {countOf(hiddenCount, 'more row')}</li>}
    </ul>
  );
}

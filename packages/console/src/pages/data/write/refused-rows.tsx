import {
  type RefusedGroup,
  refusedText,
} from '@plinth/console-core/lib/line-protocol/refused-groups.js';
import { countOf } from '@plinth/console-core/lib/units.js';

/** Lists the rows that are not valid points or that the server rejected, by line. */
export function RefusedRows(props: {
  readonly refused: readonly RefusedGroup[];
  readonly refusedCount: number;
}) {
  const { refused, refusedCount } = props;
  if (refused.length === 0) return null;
  const hiddenCount = refusedCount - refused.reduce((sum, { count }) => sum + count, 0);
  return (
    <ul className="refused-rows" aria-label="Rows that are not written">
      {refused.map((group) => (
        <li key={`${group.line} ${group.message}`} className="field-error">
          {refusedText(group)}
        </li>
      ))}
      {hiddenCount > 0 && <li className="hint">and {countOf(hiddenCount, 'more row')}</li>}
    </ul>
  );
}

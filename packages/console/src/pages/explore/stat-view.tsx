import type { SeriesSet } from '@plinth/console-core/lib/chart/series.js';
import { cellText, type Frame, isNumeric } from '@plinth/console-core/lib/frame/frame.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { countText, quantityText, unitOf } from '@plinth/console-core/lib/units.js';
import { TimeChart } from '../../components/chart/time-chart.js';

const MAX_CARD_COUNT = 24;

/** Shows the last value of each series with a sparkline. */
export function StatView(props: {
  readonly frame: Frame;
  readonly set: SeriesSet;
  readonly range: TimeRange;
}) {
  const { frame, set, range } = props;
  if (set.series.length === 0) {
    const numbers = frame.columns.filter(isNumeric);
    if (frame.rowCount === 0 || numbers.length === 0) {
      return <p className="empty soft">No numeric values in this result.</p>;
    }
    const others = frame.columns.filter((column) => !isNumeric(column));
    const labels = [
      ...(frame.rowCount > 1 ? [`Row 1 of ${countText(frame.rowCount)}`] : []),
      ...others.map((column) => `${column.name}=${cellText(column, 0)}`),
    ];
    return (
      <>
        {labels.length > 0 && <p className="hint soft drawn-note">{labels.join(' · ')}</p>}
        <div className="stats">
          {numbers.map((column) => (
            <div key={column.name} className="stat card">
              <span className="soft">{column.name}</span>
              <strong title={cellText(column, 0)}>
                {quantityText(Number(cellText(column, 0)), unitOf(column.name))}
              </strong>
            </div>
          ))}
        </div>
      </>
    );
  }
  const shown = set.series.slice(0, MAX_CARD_COUNT);
  return (
    <>
      <div className="stats">
        {shown.map((each, index) => (
          <div key={each.key} className="stat card">
            <span className="soft stat-name">{each.label}</span>
            <strong>{quantityText(each.stats.last, each.unit)}</strong>
            {each.times.length > 1 && (
              <TimeChart
                series={[each]}
                kind="line"
                range={range}
                height={70}
                colourOf={() => index}
                isPlain
              />
            )}
          </div>
        ))}
      </div>
      {set.totalCount > shown.length && (
        <p className="hint soft drawn-note">
          {shown.length} of {countText(set.totalCount)} series
        </p>
      )}
    </>
  );
}

import { styleOf } from '@plinth/console-core/lib/chart/palette.js';
import type { ChartSeries } from '@plinth/console-core/lib/chart/series.js';
import type { SeriesStats } from '@plinth/console-core/lib/frame/stats.js';
import { countText, quantityText, type Unit } from '@plinth/console-core/lib/units.js';
import { useMemo, useState } from 'react';
import { Icon } from '../controls/icon.js';
import { rowMark, useRovingRows } from '../grid/use-roving-rows.js';

const FIGURES = ['last', 'min', 'max', 'avg', 'sum'] as const;
type Order = 'name' | keyof SeriesStats;

/** Lists the series with their statistics. A click isolates a series; Ctrl+click shows or hides it. */
export function Legend(props: {
  readonly series: readonly ChartSeries[];
  readonly totalCount: number;
  /** The unit of the right axis, if there is one. */
  readonly rightUnit: Unit | undefined;
  /** The query groups rows, so the maximum of the points may differ from the maximum of the rows. */
  readonly isGrouped: boolean;
  readonly hidden: ReadonlySet<string>;
  readonly colourOf: (key: string) => number;
  readonly onHide: (hidden: ReadonlySet<string>) => void;
  /** Adds a filter for this series to the query. */
  readonly onFilter: (series: ChartSeries) => void;
}) {
  const { series, totalCount, rightUnit, isGrouped, hidden, colourOf, onHide, onFilter } = props;
  const [find, setFind] = useState('');
  const [order, setOrder] = useState<Order>('name');
  const [isAscending, setIsAscending] = useState(true);
  const shown = useMemo(() => {
    const searchText = find.toLowerCase();
    const list = series.filter(({ label }) => label.toLowerCase().includes(searchText));
    const sign = isAscending ? 1 : -1;
    return list.sort(
      (a, b) =>
        sign *
        (order === 'name'
          ? a.label.localeCompare(b.label, undefined, { numeric: true })
          : (a.stats[order] || 0) - (b.stats[order] || 0)),
    );
  }, [series, find, order, isAscending]);
  const rows = useRovingRows({ count: shown.length });
  const isNamed = series.some(({ field }) => field !== series[0]?.field);
  const choose = (key: string, isToggle: boolean) => {
    if (isToggle) {
      const next = new Set(hidden);
      if (!next.delete(key)) next.add(key);
      onHide(next);
      return;
    }
    const others = series.filter((each) => each.key !== key).map((each) => each.key);
    const isIsolated = !hidden.has(key) && others.every((each) => hidden.has(each));
    onHide(new Set(isIsolated ? [] : others));
  };
  const sortBy = (next: Order) => {
    setIsAscending(next === order ? !isAscending : next === 'name');
    setOrder(next);
  };
  const head = (name: Order, heading: string) => (
    <th key={name} aria-sort={order === name ? (isAscending ? 'ascending' : 'descending') : 'none'}>
      <button type="button" onClick={() => sortBy(name)}>
        {heading}
        {order === name ? (isAscending ? ' ↑' : ' ↓') : ''}
      </button>
    </th>
  );
  const count = series.length < totalCount ? ` with the highest maximum` : '';
  return (
    <div className="legend">
      {series.length > 6 && (
        <div className="legend-head">
          <input
            className="input small"
            aria-label="Find series"
            placeholder="Find series"
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
          <span className="hint soft">
            {countText(shown.length)} of {countText(totalCount)} series{count}
          </span>
          {hidden.size > 0 && (
            <button type="button" className="button small quiet" onClick={() => onHide(new Set())}>
              Show all
            </button>
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <section className="legend-scroll" aria-label="Legend" tabIndex={shown.length === 0 ? 0 : -1}>
        <table className="legend-table">
          {isGrouped && (
            <caption className="hint soft">
              Statistics cover the plotted points, not the underlying rows
            </caption>
          )}
          <thead>
            <tr>
              {head('name', 'Series')}
              {FIGURES.map((figure) => head(figure, figure))}
              <th>
                <span className="visually-hidden">Filter</span>
              </th>
            </tr>
          </thead>
          <tbody ref={rows.box} onKeyDown={rows.onKeyDown} onFocus={rows.onFocus}>
            {shown.map((each, index) => (
              <tr key={each.key} data-off={hidden.has(each.key)} {...rowMark(index)}>
                <td>
                  <button
                    type="button"
                    className="legend-name"
                    tabIndex={rows.tabIndexOf(index)}
                    aria-pressed={!hidden.has(each.key)}
                    title="Show only this series; Ctrl+click toggles it"
                    onClick={(event) => choose(each.key, event.ctrlKey || event.metaKey)}
                  >
                    <span
                      className="legend-mark"
                      style={{ background: styleOf(colourOf(each.key)).color }}
                    />
                    <SeriesName series={each} isNamed={isNamed} />
                  </button>
                  {each.unit === rightUnit && !hidden.has(each.key) && (
                    <span className="hint soft legend-side">right axis</span>
                  )}
                </td>
                {FIGURES.map((figure) => (
                  <td key={figure} className="num nowrap">
                    {quantityText(each.stats[figure], each.unit)}
                  </td>
                ))}
                <td className="legend-filter">
                  {each.labels.length > 0 && (
                    <button
                      type="button"
                      className="button icon small quiet"
                      tabIndex={-1}
                      aria-label={`Filter for ${each.label}`}
                      title="Filter for this series: adds a condition to the query"
                      onClick={() => onFilter(each)}
                    >
                      <Icon name="filter" size={13} />
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** The field if there are several, and the tags that differ between the series. */
function SeriesName(props: { readonly series: ChartSeries; readonly isNamed: boolean }) {
  const { field, tags } = props.series;
  return (
    <span className="legend-tags">
      {(props.isNamed || tags.length === 0) && <span>{field}</span>}
      {tags.map(([name, value]) => (
        <span key={name}>
          <span className="soft">{name}=</span>
          {value}
        </span>
      ))}
    </span>
  );
}

import type { ReactNode } from 'react';

export interface TableColumn<Row> {
  readonly title: string;
  /** Hides the title from all but screen readers, for columns of buttons. */
  readonly isTitleHidden?: boolean;
  /** Classes of the cells, such as `num`, `wide` and `nowrap`. */
  readonly className?: string;
  readonly cell: (row: Row, index: number) => ReactNode;
}

/** The title of a column of buttons. */
export const ACTIONS = { title: 'Actions', isTitleHidden: true, className: 'num' } as const;

/**
 * A table that scrolls horizontally in a narrow window, by keyboard too. Renders nothing while
 * `rows` is undefined, and `empty` if there are no rows.
 */
export function DataTable<Row>(props: {
  readonly label: string;
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly TableColumn<Row>[];
  readonly empty?: ReactNode;
}) {
  const { label, rows, keyOf, columns, empty } = props;
  if (rows === undefined) return null;
  if (rows.length === 0)
    return empty === undefined ? null : <p className="card empty soft">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section className="table-wrap" aria-label={label} tabIndex={0}>
      <table className="list">
        <thead>
          <tr>
            {columns.map(({ title, isTitleHidden, className }) => (
              <th key={title} className={className}>
                {isTitleHidden ? <span className="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, className, cell }) => (
                <td key={title} className={className} data-title={title}>
                  {cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

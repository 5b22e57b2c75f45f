import type { MouseEvent, ReactNode } from 'react';

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
 * `rows` is undefined, and `empty` for an empty list.
 */
export function DataTable<Row>(props: {
  readonly label: string;
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly TableColumn<Row>[];
  readonly empty?: ReactNode;
  /** Called for a click anywhere in a row. The first cell must contain a link for the keyboard. */
  readonly onOpen?: (row: Row) => void;
  readonly isCurrent?: (row: Row) => boolean;
  /** Adds a checkbox to each row, which the key `x` also changes. */
  readonly selection?: {
    readonly has: (row: Row) => boolean;
    readonly toggle: (row: Row) => void;
    readonly labelOf: (row: Row) => string;
  };
}) {
  const { label, rows, keyOf, columns, empty, onOpen, isCurrent, selection } = props;
  if (rows === undefined) return null;
  if (rows.length === 0)
    return empty === undefined ? null : <p className="card empty soft">{empty}</p>;
  return (
    // A region would be a second landmark with the name of the section around it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <div role="group" className="table-wrap" aria-label={label} tabIndex={0}>
      <table className="list">
        <thead>
          <tr>
            {selection && (
              <th className="select">
                <span className="visually-hidden">Selected</span>
              </th>
            )}
            {columns.map(({ title, isTitleHidden, className }) => (
              <th key={title} className={className}>
                {isTitleHidden ? <span className="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the first cell provides keyboard access.
            <tr
              key={keyOf(row)}
              className={`${onOpen ? 'clickable' : ''} ${isCurrent?.(row) ? 'current' : ''}`}
              onClick={onOpen && ((event) => isPlainClick(event) && onOpen(row))}
            >
              {selection && (
                <td className="select">
                  <label>
                    <input
                      type="checkbox"
                      aria-label={selection.labelOf(row)}
                      checked={selection.has(row)}
                      onChange={() => selection.toggle(row)}
                    />
                  </label>
                </td>
              )}
              {columns.map(({ title, className, cell }) => (
                <td key={title} className={className} data-title={title}>
                  {cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Whether a click hit no link or button of the row, and selected no text. */
function isPlainClick({ target }: MouseEvent): boolean {
  const isControl = target instanceof Element && target.closest('a, button, label') !== null;
  return !isControl && document.getSelection()?.isCollapsed !== false;
}

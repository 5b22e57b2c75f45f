import type { NewRows } from './use-new-rows.js';
import './new-rows.css';

/** Shown above the rows: the number of new rows, and a button that shows them. */
export function NewRowsButton({ rows }: { readonly rows: Omit<NewRows<unknown>, 'shown'> }) {
  const { newCount, announcement, show, topRef } = rows;
  return (
    <>
      <div ref={topRef} />
      <div className="new-rows">
        <span className="visually-hidden" role="status">
          {announcement}
        </span>
        {newCount > 0 && (
          <button type="button" className="button small primary" onClick={show}>
            {newCount} new
          </button>
        )}
      </div>
    </>
  );
}

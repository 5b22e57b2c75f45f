import type { NewRows } from './use-new-rows.js';
import './new-rows.css';

/** Stands above the rows: how many wait, and leads to them. */
export function NewRowsButton({ rows }: { readonly rows: Omit<NewRows<unknown>, 'shown'> }) {
  const { newCount, said, show, topRef } = rows;
  return (
    <>
      <div ref={topRef} />
      <div className="new-rows">
        <span className="visually-hidden" role="status">
          {said}
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

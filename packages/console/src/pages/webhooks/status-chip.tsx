import type { Delivery } from '../../api/webhooks.js';

/** What became of a delivery, in words and by its colour. */
export function StatusChip({ delivery }: { readonly delivery: Delivery }) {
  const { status, status_code } = delivery;
  const isOver = status_code >= 200 && status_code < 400;
  return (
    <span className={`chip ${isOver ? 'good' : 'bad'}`}>
      {isOver ? '✓' : '✕'} {status_code > 0 ? `${status_code} ` : ''}
      {status}
    </span>
  );
}

import type { Delivery } from '../../api/webhooks.js';

/** The result of a delivery, as text and color. */
export function StatusChip({ delivery }: { readonly delivery: Delivery }) {
  const { status, status_code } = delivery;
  const isSuccess = status_code >= 200 && status_code < 400;
  return (
    <span className={`chip ${isSuccess ? 'good' : 'bad'}`}>
      {isSuccess ? '✓' : '✕'} {status_code > 0 ? `${status_code} ` : ''}
      {status}
    </span>
  );
}

import type { Delivery } from '../../api/webhooks.js';
import { isDelivered, resultText } from '../../lib/webhooks/delivery-text.js';

/** The result of a delivery, as text and color. */
export function StatusChip({ delivery }: { readonly delivery: Delivery }) {
  const isGood = isDelivered(delivery);
  return (
    <span className={`chip ${isGood ? 'good' : 'bad'}`}>
      {isGood ? '✓' : '✕'} {resultText(delivery)}
    </span>
  );
}

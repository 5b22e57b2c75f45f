import type { Delivery } from '@plinth/console-core/api/webhooks.js';
import { isDelivered, resultText } from '@plinth/console-core/lib/webhooks/delivery-text.js';

/** The result of a delivery, as text and color. */
export function StatusChip(props: {
  readonly delivery: Delivery;
  /** Shows only the number of a status such as `503 Service Unavailable`. */
  readonly isShort?: boolean;
}) {
  const { delivery, isShort = false } = props;
  const isGood = isDelivered(delivery);
  const text = resultText(delivery);
  const [, code, reason] = (isShort && /^(\d{3})( .*)$/.exec(text)) || [];
  return (
    <span className={`chip ${isGood ? 'good' : 'bad'}`}>
      {isGood ? '✓' : '✕'} {code ?? text}
      {reason !== undefined && <span className="visually-hidden">{reason}</span>}
    </span>
  );
}

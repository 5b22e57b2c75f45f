import {
  barsOf,
  type DeliveryHistory,
  historyText,
} from '@plinth/console-core/lib/webhooks/delivery-history.js';
import './delivery-bars.css';

const BAR_WIDTH = 3;
const STEP = 4;
const HEIGHT = 28;

/** Draws the attempts of the last few hours as bars, the failed ones at the bottom. */
export function DeliveryBars({ history }: { readonly history: DeliveryHistory }) {
  const text = historyText(history);
  return (
    <svg
      role="img"
      aria-label={text}
      className="delivery-bars"
      viewBox={`0 0 ${STEP * history.succeeded.length} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <title>{text}</title>
      {barsOf(history, HEIGHT).map(({ index, succeeded, failed }) => (
        <g key={index}>
          <rect
            className="succeeded"
            x={STEP * index}
            y={HEIGHT - failed - succeeded}
            width={BAR_WIDTH}
            height={succeeded}
          />
          <rect
            className="failed"
            x={STEP * index}
            y={HEIGHT - failed}
            width={BAR_WIDTH}
            height={failed}
          />
        </g>
      ))}
    </svg>
  );
}

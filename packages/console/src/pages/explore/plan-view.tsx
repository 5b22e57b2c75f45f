import { type PlanStep, stepsOf } from '@plinth/console-core/lib/query/plan-tree.js';
import { countText } from '@plinth/console-core/lib/units.js';
import './plan-view.css';

/** Shows the steps of a query plan, each with its row count and its share of the time. */
export function PlanView({
  plan,
  onClose,
}: {
  readonly plan: PlanStep;
  readonly onClose: () => void;
}) {
  const total = stepsOf(plan).reduce((sum, { seconds = 0 }) => sum + seconds, 0);
  return (
    <section className="plan" aria-label="Plan">
      <div className="row plan-head">
        <h2>Plan</h2>
        <span className="soft small">
          Each step reads from the steps below it. Times are summed over all threads.
        </span>
        <button type="button" className="button small end" onClick={onClose}>
          Close plan
        </button>
      </div>
      <ul>
        <Step step={plan} total={total} />
      </ul>
    </section>
  );
}

function Step({ step, total }: { readonly step: PlanStep; readonly total: number }) {
  const { name, details, rowCount, seconds, inputs } = step;
  const share = seconds === undefined || total === 0 ? 0 : seconds / total;
  return (
    <li>
      <div className="plan-step">
        <b>{name.replaceAll('_', ' ').toLowerCase()}</b>
        <span className="plan-details soft mono" title={details.join('\n')}>
          {details.join(' ')}
        </span>
        <span className="plan-rows">
          {rowCount === undefined ? '' : `${countText(rowCount)} rows`}
        </span>
        <span className="plan-time">
          {seconds === undefined ? '' : `${Math.round(seconds * 1000)} ms`}
          <i style={{ width: `${Math.round(share * 100)}%` }} />
        </span>
      </div>
      {inputs.length > 0 && (
        <ul>
          {inputs.map((input, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no names of their own and never move.
            <Step key={index} step={input} total={total} />
          ))}
        </ul>
      )}
    </li>
  );
}

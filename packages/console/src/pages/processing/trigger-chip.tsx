import type { Trigger, TriggerActivity } from '../../api/processing.js';

/** The state of a trigger. An enabled trigger whose last run failed is failing. */
export function TriggerChip(props: {
  readonly trigger: Trigger;
  readonly activity: TriggerActivity | undefined;
}) {
  const { trigger, activity } = props;
  if (trigger.disabled) return <span className="chip warn">– disabled</span>;
  const { last_error: error = null, last_success: success = null } = activity ?? {};
  const isFailing = error !== null && (success === null || error > success);
  return isFailing ? (
    <span className="chip bad">✕ failing</span>
  ) : (
    <span className="chip good">✓ enabled</span>
  );
}

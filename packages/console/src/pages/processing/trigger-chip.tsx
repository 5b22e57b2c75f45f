import {
  fetchTriggerActivity,
  type Trigger,
  type TriggerActivity,
} from '@plinth/console-core/api/processing.js';
import { useQuery } from '@tanstack/react-query';

const ACTIVITY_MS = 10_000;

/** What the triggers of a database did in the last hour. */
export const useTriggerActivity = (db: string) =>
  useQuery({
    queryKey: ['tsdb', 'triggers', db, 'activity'],
    queryFn: () => fetchTriggerActivity(db),
    enabled: db !== '',
    refetchInterval: ACTIVITY_MS,
  });

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

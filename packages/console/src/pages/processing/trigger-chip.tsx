import {
  fetchTriggerActivity,
  type Trigger,
  type TriggerActivity,
} from '@plinth/console-core/api/processing.js';
import { useQuery } from '@tanstack/react-query';
import { fetchOfEach } from '../../components/controls/database-choice.js';

const ACTIVITY_MS = 10_000;

/** Returns a function for what a trigger of these databases did in the last hour. */
export function useTriggerActivity(dbs: readonly string[]) {
  const activity = useQuery({
    queryKey: ['tsdb', 'triggers', 'activity', dbs],
    queryFn: () => fetchOfEach(dbs, fetchTriggerActivity),
    enabled: dbs.length > 0,
    refetchInterval: ACTIVITY_MS,
    placeholderData: (before) => before,
  });
  return (db: string, name: string): TriggerActivity | undefined =>
    activity.data?.find((each) => each.db === db && each.trigger_name === name);
}

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

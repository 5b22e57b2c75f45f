import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { holtWinters } from '../../functions/holt-winters.js';
import { transform } from '../../functions/transformations.js';
import { FORECASTS } from '../../plan/functions.js';
import type { Points } from '../series/points.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';
import { type CallPlan, isFillable, pointsBeforeCall } from './call-plan.js';
import { type FillContext, filled } from './fill.js';
import { type Earlier, fillStart, keepBefore, withEarlier } from './look-back.js';

/** Settings of a statement that apply to all its calls. */
export interface Finishing
  extends Pick<FillContext, 'fill' | 'minNs' | 'maxNs' | 'hasLowerBound' | 'bucketLimit'> {
  readonly timeBuckets: TimeBuckets | undefined;
  /** Row functions run from the latest point to the earliest. */
  readonly isBackward: boolean;
  /** Set if a look-back changes the result of the call; then the call does not run backward. */
  readonly earlier: Earlier | undefined;
}

/**
 * Fills the buckets of the innermost call, then applies the outer transformations in run direction.
 */
export function* finishCall(plan: CallPlan, innermostPoints: Points, at: Finishing): Steps<Points> {
  const { timeBuckets, isBackward, earlier } = at;
  const isFilled = plan.ofColumn === undefined && isFillable(plan.innermost);
  const startNs = timeBuckets?.bucketOf(at.minNs).start ?? at.minNs;
  let points =
    earlier === undefined ? innermostPoints : yield* withEarlier(innermostPoints, earlier, startNs);
  if (timeBuckets !== undefined && isFilled) {
    const isCount = plan.innermost.name === 'count';
    const minNs = earlier === undefined ? at.minNs : fillStart(earlier, timeBuckets, startNs);
    points = yield* filled(points, {
      ...at,
      minNs,
      timeBuckets,
      type: plan.innermost.type,
      isCount,
    });
  }
  if (earlier !== undefined) points = yield* keepBefore(points, startNs, earlier.count);
  if (!isBackward) return yield* transformed(plan, points, at);
  // Forecasts look ahead regardless of the sort order.
  return plan.transformations.some(({ name }) => FORECASTS.has(name))
    ? reversed(yield* transformed(plan, points, at))
    : yield* transformed(plan, reversed(points), at);
}

function* transformed(
  plan: CallPlan,
  innermostPoints: Points,
  { timeBuckets, bucketLimit, minNs, earlier }: Finishing,
): Steps<Points> {
  const intervalNs = timeBuckets?.everyNs;
  const startNs = timeBuckets?.bucketOf(minNs).start ?? minNs;
  let points = innermostPoints;
  let earlierCount = earlier?.count ?? 0;
  for (const call of plan.transformations) {
    points = FORECASTS.has(call.name)
      ? yield* holtWinters(points, {
          forecastCount: Number(call.options[0] ?? 0),
          season: Number(call.options[1] ?? 0),
          withFit: call.name === 'holt_winters_with_fit',
          intervalNs: intervalNs ?? 1n,
          bucketLimit,
        })
      : yield* transform(call.name, points, {
          options: call.options,
          type: call.type,
          defaultUnitNs: intervalNs ?? 1_000_000_000n,
        });
    if (earlier === undefined) continue;
    earlierCount -= pointsBeforeCall(call);
    points = yield* keepBefore(points, startNs, earlierCount);
  }
  return points;
}

function reversed({ times, values, otherColumns }: Points): Points {
  return {
    times: times.toReversed(),
    values: values.toReversed(),
    ...(otherColumns !== undefined && {
      otherColumns: otherColumns.map((column) => column.toReversed()),
    }),
  };
}

import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { holtWinters } from '../../functions/holt-winters.js';
import { transform } from '../../functions/transformations.js';
import { FORECASTS } from '../../plan/functions.js';
import type { Points } from '../series/points.js';
import type { Windows } from '../windows/windows.js';
import { type CallPlan, isFillable } from './call-plan.js';
import { type FillContext, filled } from './fill.js';

/** Settings of a statement that apply to all its calls. */
export interface Finishing
  extends Pick<FillContext, 'fill' | 'minNs' | 'maxNs' | 'hasLowerBound' | 'bucketLimit'> {
  readonly windows: Windows | undefined;
  /** Row functions run from the latest point to the earliest. */
  readonly isBackward: boolean;
}

/**
 * Fills the buckets of the innermost call, then applies the outer transformations in run direction.
 */
export function* finishCall(plan: CallPlan, leafPoints: Points, at: Finishing): Steps<Points> {
  const { windows, isBackward } = at;
  const isFilled = plan.ofColumn === undefined && isFillable(plan.leaf);
  let points = leafPoints;
  if (windows !== undefined && isFilled) {
    const isCount = plan.leaf.name === 'count';
    points = yield* filled(points, { ...at, windows, type: plan.leaf.type, isCount });
  }
  if (!isBackward) return yield* transformed(plan, points, at);
  // Forecasts look ahead regardless of the sort order.
  return plan.around.some(({ name }) => FORECASTS.has(name))
    ? reversed(yield* transformed(plan, points, at))
    : yield* transformed(plan, reversed(points), at);
}

function* transformed(
  plan: CallPlan,
  leafPoints: Points,
  { windows, bucketLimit }: Finishing,
): Steps<Points> {
  const intervalNs = windows?.everyNs;
  let points = leafPoints;
  for (const call of plan.around) {
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
  }
  return points;
}

function reversed({ times, values, beside }: Points): Points {
  return {
    times: times.toReversed(),
    values: values.toReversed(),
    ...(beside !== undefined && { beside: beside.map((column) => column.toReversed()) }),
  };
}

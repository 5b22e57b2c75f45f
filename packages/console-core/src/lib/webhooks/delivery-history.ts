import { countText, durationText } from '../units.js';

/** Attempts of the last few hours by time bucket, oldest first. */
export interface DeliveryHistory {
  readonly bucket_seconds: number;
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/**
 * Returns the percentage of successful attempts: 100 % only for a history without failures, `undefined` without
 * attempts.
 */
export function successPercent({ succeeded, failed }: DeliveryHistory): number | undefined {
  const [good, bad] = [sum(succeeded), sum(failed)];
  return good + bad === 0 ? undefined : Math.floor((100 * good) / (good + bad));
}

/** `Last 6 h: 1,200 succeeded, 3 failed`. */
export const historyText = ({ bucket_seconds, succeeded, failed }: DeliveryHistory): string =>
  `Last ${durationText(bucket_seconds * succeeded.length)}: ${countText(sum(succeeded))} succeeded, ${countText(sum(failed))} failed`;

export interface Bar {
  readonly index: number;
  /** Heights between 0 and the given height. */
  readonly succeeded: number;
  readonly failed: number;
}

const MIN_PX = 1.5;

/**
 * Returns the bars of buckets with attempts. The highest bar has the full height, and a small count remains visible.
 */
export function barsOf({ succeeded, failed }: DeliveryHistory, height: number): readonly Bar[] {
  const most = Math.max(1, ...succeeded.map((count, index) => count + (failed[index] ?? 0)));
  const px = (count: number): number =>
    count === 0 ? 0 : Math.max(MIN_PX, (count / most) * (height - MIN_PX));
  return succeeded
    .map((count, index) => ({ index, succeeded: px(count), failed: px(failed[index] ?? 0) }))
    .filter((bar) => bar.succeeded + bar.failed > 0);
}

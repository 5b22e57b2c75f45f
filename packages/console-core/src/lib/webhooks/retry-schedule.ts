import { parseDuration } from '../time/duration.js';
import { durationText } from '../units.js';

/** The server's bounds. */
export const MAX_RETRY_COUNT = 20;
const MAX_DELAY_SEC = 604_800;

const SECONDS: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
];

/** Formats the delays as the user types them: `5s, 5m, 2h`. */
export const delaysText = (delaysSec: readonly number[]): string =>
  delaysSec
    .map((delay) => {
      const [unit, size] = SECONDS.find(([, each]) => delay > 0 && delay % each === 0) ?? ['s', 1];
      return `${delay / size}${unit}`;
    })
    .join(', ');

/** Returns delays such as `5s, 5m, 2h` in seconds; `undefined` if the server would not accept them. */
export function parseDelays(text: string): readonly number[] | undefined {
  const delays = text.split(',').map((part) => {
    const [, seconds] = /^\s*(\d+(?:\.\d+)?)\s*s?\s*$/.exec(part) ?? [];
    return seconds === undefined ? parseDuration(part) : Number(seconds);
  });
  const isFine =
    delays.length <= MAX_RETRY_COUNT &&
    delays.every((delay) => delay !== undefined && delay <= MAX_DELAY_SEC);
  return isFine ? (delays as number[]) : undefined; // every delay has been checked
}

export interface Attempt {
  readonly name: string;
  /** Seconds since the previous attempt. */
  readonly delaySec: number;
  /** Seconds since the first attempt. */
  readonly atSec: number;
}

/** Returns all attempts for an event if none of them succeeds. */
export function attemptsOf(delaysSec: readonly number[]): readonly Attempt[] {
  let atSec = 0;
  return [0, ...delaysSec].map((delaySec, index) => {
    atSec += delaySec;
    return { name: index === 0 ? 'Attempt 1' : `Retry ${index}`, delaySec, atSec };
  });
}

/** Formats a delay of a schedule, which may be shorter than a second. */
export const delayText = (seconds: number): string =>
  seconds > 0 && seconds < 1 ? `${Math.round(seconds * 1000)} ms` : durationText(seconds);

/** Formats the time of an attempt. Later times are rounded more coarsely. */
export function timeOfAttempt(atSec: number): string {
  const size = atSec < 60 ? 1 : atSec < 3600 ? 60 : 3600;
  const rounded = size * Math.round(atSec / size);
  return `${rounded === atSec || atSec < 1 ? 'at' : '≈'} ${delayText(atSec < 1 ? atSec : rounded)}`;
}

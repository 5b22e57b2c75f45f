import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Points } from '../execute/series/points.js';
import type { Value } from '../plan/data-type.js';

type WarmUp = 'simple' | 'exponential' | 'none';

/**
 * A moving average or oscillator. `add` takes the next value and returns the current result, 0
 * during warm-up.
 */
interface Indicator {
  add(value: number): number;
  isWarm(): boolean;
}

/**
 * Computes a technical-analysis function of InfluxDB 1.x, whose implementation is
 * `query/internal/gota` (after "TA-Lib") in `influxdata/influxdb`. Omits the rows of the warm-up
 * period, or the first `hold` rows if given.
 */
export function* technical(
  name: string,
  { times, values }: Points,
  options: readonly (number | bigint | string)[],
): Steps<Points> {
  const [period = 1n, holdOption = -1n, warmUpOption] = options;
  const size = Number(period);
  const hold = Number(holdOption);
  const warmUp =
    warmUpOption === 'simple' || warmUpOption === 'none' ? warmUpOption : 'exponential';
  const indicator = open(
    name,
    size,
    warmUpOption === undefined && name === 'chande_momentum_oscillator' ? 'none' : warmUp,
  );
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  for (let i = 0; i < values.length; i++) {
    if (isStepEnd(i)) yield;
    const shown = indicator.add(Number(values[i]));
    if (hold === -1 ? !indicator.isWarm() : i < hold) continue;
    outTimes.push(times[i] as bigint); // as many as values
    out.push(shown);
  }
  return { times: outTimes, values: out };
}

function open(name: string, size: number, warmUp: WarmUp): Indicator {
  switch (name) {
    case 'exponential_moving_average':
      return new Ema(size, warmUp);
    case 'double_exponential_moving_average':
      return new Combined(size, warmUp, 2, ([a = 0, b = 0]) => 2 * a - b);
    case 'triple_exponential_moving_average':
      return new Combined(size, warmUp, 3, ([a = 0, b = 0, c = 0]) => 3 * a - 3 * b + c);
    case 'triple_exponential_derivative':
      return new Trix(size, warmUp);
    case 'relative_strength_index':
      return new Rsi(size, warmUp);
    case 'kaufmans_efficiency_ratio':
      return new Ker(size);
    case 'kaufmans_adaptive_moving_average':
      return new Kama(size);
    default:
      return warmUp === 'none' ? new Cmo(size) : new CmoSmoothed(size, warmUp);
  }
}

class Ema implements Indicator {
  readonly size: number;
  readonly #alpha: number;
  readonly #warmUp: WarmUp;
  #count = 0;
  #sum = 0;
  #last = 0;

  constructor(size: number, warmUp: WarmUp, alpha = 2 / (size + 1)) {
    this.size = size;
    this.#alpha = alpha;
    this.#warmUp = warmUp;
  }

  isWarm(): boolean {
    return this.#count >= this.size;
  }

  add(value: number): number {
    this.#count++;
    if (this.#count === 1) {
      this.#sum = value;
      this.#last = value;
      return value;
    }
    if (this.#warmUp === 'simple' && this.#count <= this.size) {
      this.#sum += value;
      this.#last = this.#sum / this.#count;
      return this.#last;
    }
    // During warm-up each value has the weight of a cumulative average.
    const alpha = this.#count <= this.size ? 2 / (this.#count + 1) : this.#alpha;
    this.#last += (value - this.#last) * alpha;
    return this.#last;
  }
}

/** Nested exponential moving averages. */
class Chain {
  readonly parts: readonly Ema[];

  constructor(size: number, warmUp: WarmUp, depth: number) {
    this.parts = Array.from({ length: depth }, () => new Ema(size, warmUp));
  }

  /** Returns the current value of each average. */
  add(value: number): number[] {
    const values: number[] = [];
    let next = value;
    for (const part of this.parts) {
      next = part.add(next);
      values.push(next);
    }
    return values;
  }

  get isWarm(): boolean {
    return this.parts.at(-1)?.isWarm() ?? false;
  }
}

class Combined implements Indicator {
  readonly #chain: Chain;
  readonly #combine: (values: readonly number[]) => number;
  readonly #depth: number;

  constructor(
    size: number,
    warmUp: WarmUp,
    depth: number,
    combine: (values: readonly number[]) => number,
  ) {
    this.#chain = new Chain(size, warmUp, depth);
    this.#combine = combine;
    this.#depth = depth;
  }

  isWarm(): boolean {
    return this.#chain.isWarm;
  }

  add(value: number): number {
    const values = this.#chain.add(value);
    return values.length === this.#depth ? this.#combine(values) : (values.at(-1) ?? value);
  }
}

class Trix implements Indicator {
  readonly #chain: Chain;
  #last: number | undefined;
  #isShown = false;
  #wasWarm = false;

  constructor(size: number, warmUp: WarmUp) {
    this.#chain = new Chain(size, warmUp, 3);
  }

  isWarm(): boolean {
    return this.#isShown;
  }

  add(value: number): number {
    const values = this.#chain.add(value);
    const current = values[2] ?? 0;
    const previous = this.#last;
    this.#last = current;
    if (previous === undefined) return 0;
    this.#isShown = this.#wasWarm;
    this.#wasWarm = this.#chain.isWarm;
    return previous === 0 ? 0 : (current / previous - 1) * 100;
  }
}

class Rsi implements Indicator {
  readonly #size: number;
  readonly #up: Ema;
  readonly #down: Ema;
  #previous = 0;
  #count = 0;

  constructor(size: number, warmUp: WarmUp) {
    this.#size = size;
    // Wilder's smoothing over n values is the average over 2n - 1.
    this.#up = new Ema(2 * size - 1, warmUp, 1 / size);
    this.#down = new Ema(2 * size - 1, warmUp, 1 / size);
  }

  isWarm(): boolean {
    return this.#count > this.#size;
  }

  add(value: number): number {
    const previous = this.#previous;
    this.#previous = value;
    this.#count++;
    const up = this.#up.add(Math.max(value - previous, 0));
    const down = this.#down.add(Math.max(previous - value, 0));
    return 100 - 100 / (1 + up / down);
  }
}

/**
 * Sum of the last `size` numbers, in constant time per number. Nothing is subtracted, so rounding
 * errors do not accumulate. At each block border, suffix sums of the finished block are computed.
 */
class WindowSum {
  readonly #size: number;
  /** Numbers since the last block border. */
  #numbers: number[] = [];
  #sum = 0;
  /** Suffix sums of the block before the border. */
  #rests: readonly number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  add(value: number): number {
    if (this.#numbers.length === this.#size) {
      const rests = this.#numbers;
      for (let i = rests.length - 2; i >= 0; i--)
        rests[i] = (rests[i] as number) + (rests[i + 1] as number);
      this.#rests = rests;
      this.#numbers = [];
      this.#sum = 0;
    }
    this.#numbers.push(value);
    this.#sum += value;
    return (this.#rests[this.#numbers.length] ?? 0) + this.#sum;
  }
}

/**
 * Kaufman's efficiency ratio: net change over the last `size` steps, divided by the sum of absolute
 * changes.
 */
class Ker implements Indicator {
  readonly #size: number;
  readonly #noise: WindowSum;
  /** Ring buffer of the last `size` values. */
  readonly #values: number[] = [];
  #count = 0;
  #previous = 0;

  constructor(size: number) {
    this.#size = size;
    this.#noise = new WindowSum(size);
  }

  isWarm(): boolean {
    return this.#count > this.#size;
  }

  add(value: number): number {
    const place = this.#count % this.#size;
    const oldest = (this.#count < this.#size ? this.#values[0] : this.#values[place]) ?? value;
    const noise = this.#count === 0 ? 0 : this.#noise.add(Math.abs(value - this.#previous));
    this.#values[place] = value;
    this.#previous = value;
    this.#count++;
    return Math.abs(value - oldest) / noise;
  }
}

const FASTEST = 2 / 3;
const SLOWEST = 2 / 31;

class Kama implements Indicator {
  readonly #ratio: Ker;
  #last: number | undefined;

  constructor(size: number) {
    this.#ratio = new Ker(size);
  }

  isWarm(): boolean {
    return this.#ratio.isWarm();
  }

  add(value: number): number {
    const ratio = this.#ratio.add(value);
    if (!this.#ratio.isWarm() || this.#last === undefined) {
      this.#last = value;
      return value;
    }
    const smoothing = (ratio * (FASTEST - SLOWEST) + SLOWEST) ** 2;
    this.#last += smoothing * (value - this.#last);
    return this.#last;
  }
}

class Cmo implements Indicator {
  readonly #size: number;
  readonly #up: WindowSum;
  readonly #down: WindowSum;
  #previous: number | undefined;
  #count = 0;

  constructor(size: number) {
    this.#size = size;
    this.#up = new WindowSum(size);
    this.#down = new WindowSum(size);
  }

  isWarm(): boolean {
    return this.#count >= this.#size;
  }

  add(value: number): number {
    const previous = this.#previous;
    this.#previous = value;
    this.#count++;
    if (previous === undefined) return 0;
    const change = value - previous;
    const up = this.#up.add(change > 0 ? change : 0);
    const down = this.#down.add(change > 0 ? 0 : -change);
    return up + down === 0 ? 0 : (100 * (up - down)) / (up + down);
  }
}

class CmoSmoothed implements Indicator {
  readonly #up: Ema;
  readonly #down: Ema;
  #previous = 0;

  constructor(size: number, warmUp: WarmUp) {
    this.#up = new Ema(size, warmUp);
    this.#down = new Ema(size, warmUp);
  }

  isWarm(): boolean {
    return this.#up.isWarm();
  }

  add(value: number): number {
    const previous = this.#previous;
    this.#previous = value;
    const up = this.#up.add(Math.max(value - previous, 0));
    const down = this.#down.add(Math.max(previous - value, 0));
    return up + down === 0 ? 0 : (100 * (up - down)) / (up + down);
  }
}

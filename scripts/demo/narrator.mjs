const isColour = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const paint = (code, text) => (isColour ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Prints one line with the duration of each step, and counts the wrong results. */
export class Narrator {
  #startMs = performance.now();
  #stepCount = 0;
  #wrongCount = 0;

  title(text) {
    console.log(`\n${paint(1, text)}`);
  }

  note(text) {
    console.log(`      ${paint(2, text)}`);
  }

  /** Runs one step and prints `describe(result)`. */
  async step(what, work, describe = () => '') {
    const startMs = performance.now();
    const result = await work();
    this.#line(true, what, describe(result), performance.now() - startMs);
    return result;
  }

  /** Compares a result of the server with one that was computed without it. */
  async check(question, query, expected, show) {
    const startMs = performance.now();
    const found = await query();
    const tookMs = performance.now() - startMs;
    const difference = differenceOf(found, expected);
    this.#line(difference === undefined, question, show(found), tookMs);
    if (difference === undefined) return;
    this.#wrongCount += 1;
    console.log(`      ${paint(31, `differs from the files: ${difference}`)}`);
  }

  /** @returns whether all results were correct. */
  finish() {
    const seconds = ((performance.now() - this.#startMs) / 1000).toFixed(1);
    const verdict =
      this.#wrongCount === 0
        ? paint(32, 'all results were correct')
        : paint(31, `${this.#wrongCount} results were wrong`);
    console.log(`\n${this.#stepCount} steps in ${seconds} s: ${verdict}\n`);
    return this.#wrongCount === 0;
  }

  #line(isRight, what, result, tookMs) {
    this.#stepCount += 1;
    const mark = isRight ? paint(32, 'ok') : paint(31, '!!');
    const number = String(this.#stepCount).padStart(3);
    const head = `${number} ${mark} ${what} `.padEnd(isColour ? 68 : 59, ' ');
    console.log(`${head} ${durationText(tookMs).padStart(9)}   ${result}`);
  }
}

export function durationText(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

/** Returns the first difference. Numbers may differ in the last digits, because a sum depends on its order. */
function differenceOf(found, expected, path = 'answer') {
  if (typeof expected === 'number' && typeof found === 'number') {
    const tolerance = 1e-9 * Math.max(1, Math.abs(expected));
    return Math.abs(found - expected) <= tolerance
      ? undefined
      : `${path}: ${found}, not ${expected}`;
  }
  if (typeof expected !== 'object' || expected === null || typeof found !== 'object') {
    return Object.is(found, expected) ? undefined : `${path}: ${found}, not ${expected}`;
  }
  if (Array.isArray(expected) && found.length !== expected.length) {
    return `${path}: ${found.length} rows, not ${expected.length}`;
  }
  for (const key of Object.keys(expected)) {
    const difference = differenceOf(found[key], expected[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const WIDTH = 30;
const INTERVAL_MS = 100;

/** A progress bar on a terminal; prints nothing otherwise. */
export class Progress {
  readonly #what: string;
  readonly #total: number;
  readonly #isShown = process.stderr.isTTY === true;
  #done = 0;
  #shownMs = 0;

  constructor(what: string, totalBytes: number) {
    this.#what = what;
    this.#total = totalBytes;
  }

  add(sizeBytes: number): void {
    this.#done += sizeBytes;
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#shownMs < INTERVAL_MS) return;
    this.#shownMs = nowMs;
    this.#draw();
  }

  end(): void {
    if (!this.#isShown) return;
    this.#draw();
    process.stderr.write('\n');
  }

  #draw(): void {
    const share = this.#total === 0 ? 1 : Math.min(1, this.#done / this.#total);
    const full = Math.round(share * WIDTH);
    const bar = `${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}`;
    const mebibytes = (this.#done / 1048576).toFixed(1);
    process.stderr.write(`\r${this.#what} [${bar}] ${Math.floor(share * 100)} % ${mebibytes} MiB`);
  }
}

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvariantBroken } from '@plinth/kernel';
import { SeededRandom } from '@plinth/kernel/testing';
import { SqlPlanner } from '@plinth/tsdb-sql/sql-planner.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { DONE_KINDS, type FailurePoints } from './failure-points.js';
import { bounded, Hang, SimulatedNode } from './simulated-node.js';
import { ALL_TABLES, fromSecOf, STEPS, type Stage, type Step } from './steps.js';
import { type Change, StorageModel } from './storage-model.js';

/**
 * Fraction of steps that are disturbed; lower for writes, which are most of the steps, because many
 * need a restart.
 */
const FAULT_SHARE = 0.5;
const WRITE_FAULT_SHARE = 0.005;
/** Fraction of writes that are checked. */
const LOOK_SHARE = 0.05;
/** Fraction of checks that also run InfluxQL. */
const SUMS_SHARE = 0.1;
/** Above this number of worlds, a restart is needed to determine the actual one. */
const MAX_WORLDS = 16;
/** Limits after startup, a flush and merges: segments and series files of a table. */
const MAX_SEGMENTS = 80;
const MAX_SERIES_FILES = 10;
const MAX_LOG_FILES = 8;
/** In memory where possible: syncs are free there, and no power failure is simulated. */
const FOLDERS = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface Simulation {
  readonly seed: number;
  readonly stepCount: number;
  /** Calls fail one by one, as listed there; a number is the fraction of all calls that fail. */
  readonly failing: FailurePoints | number;
  /**
   * Fraction of steps chosen because some of their calls have not failed yet. These take a hundred
   * times as long as a write.
   */
  readonly huntShare?: number;
  /** Called after each step; returns false to stop. */
  readonly onStep?: (look: () => Promise<Census>) => Promise<boolean> | boolean;
}

/** Sizes of everything that must stay bounded. */
export interface Census {
  readonly rowCount: number;
  readonly segmentCount: number;
  readonly seriesFileCount: number;
  readonly tombstoneCount: number;
  readonly logFileCount: number;
  readonly tempFileCount: number;
  readonly startCount: number;
}

/**
 * Runs random steps on a real node with failing calls. Throws with seed and last steps if an
 * invariant is violated.
 */
export async function simulate(simulation: Simulation): Promise<void> {
  const { seed } = simulation;
  const folder = await mkdtemp(join(FOLDERS, 'plinth-simulation-'));
  const random = new SeededRandom(seed);
  const planner = await SqlPlanner.load();
  const sim = new SimulatedNode(folder, random, (...given) => planner.plan(...given));
  const run = new Run(sim, random, simulation);
  try {
    await sim.open();
    for (let step = 0; step < simulation.stepCount; step++) {
      await run.step();
      if ((await simulation.onStep?.(() => run.look())) === false) break;
    }
    await run.end();
  } catch (cause) {
    const what = `${run.trace.join('\n')}\n${causes(cause).join('\n')}`;
    throw new Error(`seed ${seed}, after these steps:\n${what}`, { cause });
  } finally {
    await sim.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

const MAX_TRACE = 60;
const MAX_LOOKS = 2000;

class Run {
  readonly trace: string[] = [];
  readonly #sim: SimulatedNode;
  readonly #random: SeededRandom;
  readonly #failing: FailurePoints | number;
  readonly #huntShare: number;
  readonly #model = new StorageModel();
  readonly #stage: Stage;
  #count = 0;
  /** Number of the start that was checked last. */
  #lastChecked = 1;
  #wasDisturbed = false;

  constructor(sim: SimulatedNode, random: SeededRandom, { failing, huntShare = 0 }: Simulation) {
    this.#sim = sim;
    this.#random = random;
    this.#failing = failing;
    this.#huntShare = huntShare;
    this.#stage = {
      ...{ sim, random, model: this.#model },
      change: (change, call) => this.#change(change, call),
      check: async (table) => this.#compare(table, await this.#sim.rows(table), true),
    };
  }

  async look(): Promise<Census> {
    const sim = this.#sim;
    const { segmentCount, waitingDeletionCount } = sim.engine;
    return {
      rowCount: ALL_TABLES.reduce((sum, table) => sum + this.#model.pointCount(table), 0),
      segmentCount,
      seriesFileCount: (await sim.known()).length - segmentCount,
      tombstoneCount: waitingDeletionCount,
      logFileCount: (await sim.onDisk('tsdb-log')).length,
      tempFileCount: (await sim.onDisk('tsdb-temp')).length,
      startCount: sim.startCount,
    };
  }

  async step(): Promise<void> {
    await this.#recover(); // a call that continued after the last step may have failed
    const isUndecided = this.#model.worldCount > MAX_WORLDS;
    const hunted = isUndecided ? undefined : this.#hunted();
    const step = isUndecided ? named('kill') : (hunted ?? this.#choose());
    const share =
      hunted !== undefined ? 1 : step.name === 'write' ? WRITE_FAULT_SHARE : FAULT_SHARE;
    let isDisturbed = true;
    this.#count++;
    this.#note(step.name);
    if (typeof this.#failing === 'number') {
      await this.#shake(step, isUndecided ? 0 : this.#failing);
      this.#wasDisturbed = true;
    } else if (isUndecided || this.#random.float() >= share) {
      isDisturbed = false;
      const before = new Map(this.#sim.faults.counts);
      await step.run(this.#stage).catch(async (error: unknown) => {
        // A sync after the last step failed, and the log reported it afterwards.
        if (isFault(error) || !this.#wasDisturbed || !this.#isHindered()) throw error;
        await this.#recover();
      });
      this.#failing.noteCalls(step.name, this.#callsSince(before));
    } else {
      await this.#disturb(step, this.#failing);
      this.#wasDisturbed = true;
    }
    // Checked once after startup, because later merges write files that are not registered yet, and remove others.
    if (this.#sim.startCount > this.#lastChecked) await this.#checkStart();
    else if (this.#hasToLook(step.name, isDisturbed)) await this.#checkRows([this.#anyTable()]);
  }

  /** Queries are already compared when they run. */
  #hasToLook(step: string, isDisturbed: boolean): boolean {
    if (step === 'write') return this.#random.float() < LOOK_SHARE;
    return step !== 'query' || isDisturbed;
  }

  async end(): Promise<void> {
    this.#note('end');
    await named('restart').run(this.#stage);
    await this.#checkStart();
  }

  /** Runs a step in which a fraction of all calls fails, including the restart. */
  async #shake(step: Step, share: number): Promise<void> {
    const { faults } = this.#sim;
    faults.failSome({ share, random: this.#random, doneKinds: DONE_KINDS });
    try {
      await step.run(this.#stage);
    } catch (error) {
      if (isFault(error)) throw error;
      this.#note(`  failed: ${String(error).slice(0, 150)}`);
    }
    await faults.healed();
    await this.#recover();
  }

  /**
   * Runs a step with one fault. Afterwards the node works as before, or restarts if it reported
   * that it must.
   */
  async #disturb(step: Step, points: FailurePoints): Promise<void> {
    const { faults } = this.#sim;
    const point = points.choose(step.name, this.#random);
    if (point === undefined) return await step.run(this.#stage);
    this.#note(`  ${point.kind} ${point.at} ${point.mode}`);
    const before = new Map(faults.counts);
    faults.fail(point);
    if (point.mode === 'doubt') faults.fail({ kind: 'relational.read', count: 2 });
    let failure: unknown;
    try {
      await step.run(this.#stage);
    } catch (error) {
      failure = error;
      if (isFault(error)) throw error;
      this.#note(`  failed: ${String(error).slice(0, 150)}`);
    }
    const calls = this.#callsSince(before);
    const total = [...calls.values()].reduce((sum, count) => sum + count, 0);
    const hasFired = (point.kind === '*' ? total : (calls.get(point.kind) ?? 0)) >= (point.at ?? 1);
    const isLate = this.#wasDisturbed && this.#isHindered();
    if (failure !== undefined && !hasFired && !isLate) throw failure;
    if (hasFired) points.noteFailed(step.name, point);
    if (point.mode === 'cut') await this.#sim.kill();
    await faults.healed();
    await this.#recover();
  }

  async #recover(): Promise<void> {
    const sim = this.#sim;
    if (sim.isOpen && sim.engine.obstacle !== undefined && !sim.engine.isReadOnly) {
      for (let i = 0; i < MAX_LOOKS && sim.engine.obstacle !== undefined; i++) {
        await sim.clock.advanceMs(1000);
        await sleep(1); // the log creates its file in the meantime
      }
      assert.ok(sim.engine.isReadOnly || sim.engine.obstacle === undefined, 'takes writes again');
    }
    if (!this.#hasToStart()) return;
    this.#note('  starts again');
    await sim.kill();
    await sim.open();
    await this.#checkStart();
  }

  /** True if the node is closed or reports that it rejects writes. */
  #isHindered(): boolean {
    return !this.#sim.isOpen || this.#sim.engine.obstacle !== undefined;
  }

  #hasToStart(): boolean {
    return !this.#sim.isOpen || this.#sim.engine.isReadOnly;
  }

  async #change(change: Change, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.#model.apply(change, 'unknown');
      throw error;
    }
    this.#model.apply(change, 'made');
  }

  async #checkRows(tables: readonly string[]): Promise<void> {
    for (const table of tables) await this.#compare(table, await this.#sim.rows(table));
  }

  /** Compares the rows with the model, and occasionally the sums of InfluxQL. */
  async #compare(
    table: string,
    found: string,
    withSums = this.#random.float() < SUMS_SHARE,
  ): Promise<void> {
    const fromSec = fromSecOf(table, this.#sim.nowSec);
    const candidates = this.#model.candidates(table, fromSec);
    if (!candidates.includes(found)) assert.fail(difference(table, found, candidates[0] ?? ''));
    if (!withSums) return;
    const sums = await this.#sim.sums(table);
    const expected = this.#model.sums(table, fromSec);
    if (!expected.includes(sums)) assert.equal(sums, expected[0], `count and sum of ${table}`);
  }

  /** After startup, the outcome of failed changes is known, and every file is registered. */
  async #checkStart(): Promise<void> {
    const sim = this.#sim;
    this.#lastChecked = sim.startCount;
    const strange = await this.#unregisteredFiles();
    const history = strange.flatMap((each) => [each, ...sim.historyOf(each.split('/')[1] ?? '')]);
    assert.deepEqual(history, [], 'files that are known');
    assert.deepEqual(await this.#temporaryFiles(), [], 'temporary files');
    const rows = new Map<string, string>();
    for (const table of ALL_TABLES) rows.set(table, await sim.rows(table));
    const isPossible = this.#model.narrow(rows, (table) => fromSecOf(table, sim.nowSec));
    for (const [table, found] of rows) await this.#compare(table, found);
    assert.ok(isPossible, 'each change that failed is there as a whole or not at all');
    if (this.#random.float() < 0.2) await this.#checkBounds();
  }

  /**
   * Differences between the registry and the folder. Files whose rows were all deleted are removed in the background,
   * so a difference must persist.
   */
  async #unregisteredFiles(): Promise<readonly string[]> {
    const sim = this.#sim;
    let strange: readonly string[] = [];
    for (let i = 0; i < MAX_LOOKS; i++) {
      const known = await sim.known();
      const found = await sim.onDisk('objects/tsdb');
      strange = [
        ...found.filter((name) => !known.includes(name)).map((name) => `nobody knows ${name}`),
        ...known.filter((name) => !found.includes(name)).map((name) => `not there: ${name}`),
      ];
      if (strange.length === 0) break;
      await sleep(1);
    }
    return strange;
  }

  /** Temporary files that persist: a merge after the start may be writing one. */
  async #temporaryFiles(): Promise<readonly string[]> {
    let found = await this.#sim.onDisk('tsdb-temp');
    for (let i = 0; i < MAX_LOOKS && found.length > 0; i++) {
      await sleep(1);
      found = await this.#sim.onDisk('tsdb-temp');
    }
    return found;
  }

  /** Checks that files and records are merged and removed when nothing fails. */
  async #checkBounds(): Promise<void> {
    const sim = this.#sim;
    for (let i = 0; i < 4; i++) {
      await bounded(flushEngine(sim.engine), 'flush');
      await sim.clock.advanceMs(10_000);
    }
    await bounded(flushEngine(sim.engine), 'flush');
    const { segmentCount, waitingDeletionCount } = sim.engine;
    const tableCount = ALL_TABLES.length;
    assert.equal(waitingDeletionCount, 0, 'deletions that wait');
    assert.ok(segmentCount <= MAX_SEGMENTS * tableCount, `${segmentCount} segments`);
    const seriesFileCount = (await sim.known()).length - segmentCount;
    assert.ok(seriesFileCount <= MAX_SERIES_FILES * tableCount, `${seriesFileCount} series files`);
    const logFiles = await sim.onDisk('tsdb-log');
    assert.ok(
      logFiles.length <= MAX_LOG_FILES,
      `${logFiles.length} files of the log, with ${sim.engine.storage.state().bufferedBytes} B in memory: ${logFiles.join(', ')}`,
    );
    await this.#checkRows(ALL_TABLES);
  }

  #callsSince(before: ReadonlyMap<string, number>): Map<string, number> {
    const calls = new Map<string, number>();
    for (const [kind, count] of this.#sim.faults.counts) {
      const made = count - (before.get(kind) ?? 0);
      if (made > 0) calls.set(kind, made);
    }
    return calls;
  }

  /** Occasionally, a step with calls that have not failed yet. */
  #hunted(): Step | undefined {
    if (typeof this.#failing === 'number' || this.#random.float() >= this.#huntShare)
      return undefined;
    const open = this.#failing.openSteps();
    const name = open[Math.floor(this.#random.float() * open.length)];
    return name === undefined ? undefined : named(name);
  }

  #choose(): Step {
    let left = this.#random.float() * STEPS.reduce((sum, { weight }) => sum + weight, 0);
    for (const step of STEPS) {
      left -= step.weight;
      if (left < 0) return step;
    }
    return named('write');
  }

  #anyTable(): string {
    // the index is below its length
    return ALL_TABLES[Math.floor(this.#random.float() * ALL_TABLES.length)] as string;
  }

  #note(text: string): void {
    this.trace.push(`${this.#count} ${text}`);
    if (this.trace.length > MAX_TRACE) this.trace.shift();
  }
}

// one of them has the name
const named = (name: string): Step => STEPS.find((step) => step.name === name) as Step;

function difference(table: string, found: string, expected: string): string {
  const [is, wanted] = [found.split('\n'), expected.split('\n')];
  const missing = wanted.filter((row) => !is.includes(row)).map((row) => `missing ${row}`);
  const wrong = is.filter((row) => !wanted.includes(row)).map((row) => `not written ${row}`);
  return `rows of ${table}: ${is.length} instead of ${wanted.length}\n${[...missing, ...wrong].join('\n')}`;
}

/** The error and its causes, with the stack of the innermost. */
function causes(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [String(error)];
  return [error.cause === undefined ? String(error.stack) : String(error), ...causes(error.cause)];
}

/** True for errors that a failing call does not explain. */
function isFault(error: unknown): boolean {
  return (
    error instanceof Hang ||
    error instanceof InvariantBroken ||
    error instanceof TypeError ||
    error instanceof assert.AssertionError
  );
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, type DatabaseCable } from '../harness/index.js';
import type { StormNode, StormPlatform } from './storm-platform.js';

export type FaultKind = 'kill' | 'stop' | 'restart' | 'database' | 'redis';

interface Fault {
  readonly kind: FaultKind;
  readonly what: string;
  readonly fromMs: number;
  toMs: number;
}

/** Faults of nodes and stores. The seed determines their kind and time, within the limits of the machine's timing. */
export class Weather {
  readonly faults: Fault[] = [];
  readonly #platform: StormPlatform;
  readonly #seed: number;
  readonly #report: (line: string) => void;
  readonly #startMs = Date.now();
  #isOver = false;

  constructor(
    platform: StormPlatform,
    options: { readonly seed: number; readonly report: (line: string) => void },
  ) {
    this.#platform = platform;
    this.#seed = options.seed;
    this.#report = options.report;
  }

  /** Resolves when all nodes run and all stores are reachable. */
  async rage(lengthMs: number): Promise<void> {
    await Promise.all([
      this.#pause(lengthMs).then(() => this.end()),
      this.#repeat(1, [2, 12], (chance) => this.#kill(chance)),
      this.#repeat(2, [3, 15], (chance) => this.#stop(chance)),
      this.#repeat(3, [4, 20], (chance) => this.#loseStore(chance)),
      this.#repeat(4, [15, 60], () => this.#restartAll()),
    ]);
  }

  /** Ends all current faults immediately. */
  end(): void {
    this.#isOver = true;
  }

  /** Whether one of these faults was active at that time. A node that was suspended detects a lost store when it resumes. */
  wasFault(kinds: readonly FaultKind[], fromMs: number, toMs: number): boolean {
    return this.faults.some(
      (fault) =>
        kinds.includes(fault.kind) && fault.fromMs <= toMs && this.#feltToMs(fault) >= fromMs,
    );
  }

  #feltToMs({ fromMs, toMs }: Fault): number {
    const stops = this.faults.filter(
      (fault) => fault.kind === 'stop' && fault.fromMs <= toMs && fault.toMs >= fromMs,
    );
    return Math.max(toMs, ...stops.map((stop) => stop.toMs));
  }

  count(kind: FaultKind): number {
    return this.faults.filter((fault) => fault.kind === kind).length;
  }

  async #repeat(
    stream: number,
    [minSec, maxSec]: readonly [number, number],
    work: (chance: Chance) => Promise<void>,
  ): Promise<void> {
    const chance = new Chance(this.#seed * 10 + stream);
    for (;;) {
      await this.#pause(chance.between(minSec * 1000, maxSec * 1000));
      if (this.#isOver) return;
      await work(chance);
    }
  }

  /** Ends early when the storm has ended. */
  async #pause(lengthMs: number): Promise<void> {
    const endMs = Date.now() + lengthMs;
    while (!this.#isOver && Date.now() < endMs) await sleep(100);
  }

  async #kill(chance: Chance): Promise<void> {
    await this.#take(chance, async (node) => {
      await this.#during('kill', `node ${node.index} killed`, async () => {
        await node.server?.kill();
        await this.#pause(chance.between(0, 8000));
        await this.#platform.startNode(node);
      });
    });
  }

  async #stop(chance: Chance): Promise<void> {
    await this.#take(chance, async (node) => {
      await this.#during('stop', `node ${node.index} stopped`, async () => {
        node.server?.signal('SIGSTOP');
        await this.#pause(chance.between(5000, 40_000));
        node.server?.signal('SIGCONT');
      });
    });
  }

  async #restartAll(): Promise<void> {
    for (const node of this.#platform.nodes) {
      while (node.isTaken) await sleep(100);
      node.isTaken = true;
      await this.#during('restart', `node ${node.index} restarted`, async () => {
        await node.server?.stop();
        await this.#platform.startNode(node);
      });
      node.isTaken = false;
    }
  }

  async #loseStore(chance: Chance): Promise<void> {
    const kind = chance.pick(['database', 'redis'] as const);
    const { nodes, redis } = this.#platform;
    const lengthMs = chance.between(2000, 20_000);
    const hit = chance.happens(0.5) ? nodes : [chance.pick(nodes)];
    const how = chance.pick(['cut', 'frozen', 'frozen, then cut'] as const);
    const whom = hit.map(({ index }) => index).join();
    await this.#during(kind, `${kind} ${how} for ${whom}`, async () => {
      const cables: readonly DatabaseCable[] = hit.map((node) => node[kind]);
      const isOwn = kind === 'redis' && how === 'frozen' && hit.length > 1;
      if (isOwn) redis.signal('SIGSTOP');
      else for (const cable of cables) how === 'cut' ? cable.cut() : cable.hush();
      await this.#pause(lengthMs);
      if (isOwn) redis.signal('SIGCONT');
      for (const cable of cables) {
        if (how === 'frozen') cable.thaw();
        else cable.cut();
        await cable.join();
      }
    });
  }

  /** Runs `work` on a node without a fault, unless it is the last one. */
  async #take(chance: Chance, work: (node: StormNode) => Promise<void>): Promise<void> {
    const free = this.#platform.nodes.filter(({ isTaken }) => !isTaken);
    if (free.length < 2) return;
    const node = chance.pick(free);
    node.isTaken = true;
    await work(node);
    node.isTaken = false;
  }

  async #during(kind: FaultKind, what: string, work: () => Promise<void>): Promise<void> {
    const fault: Fault = { kind, what, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.faults.push(fault);
    await work();
    fault.toMs = Date.now();
    const atSec = (ms: number): string => ((ms - this.#startMs) / 1000).toFixed(1);
    this.#report(`${atSec(fault.fromMs)} to ${atSec(fault.toMs)} s: ${what}`);
  }
}

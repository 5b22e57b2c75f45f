import type { Clock, LiveStream, NotifyLive } from '@plinth/kernel';

/** Events kept for reconnecting clients. */
const MAX_KEPT_COUNT = 1000;
const MAX_KEPT_BYTES = 1_048_576;
const MAX_PER_SEC = 200;

interface SentEvent {
  readonly seq: number;
  readonly event: string;
  readonly bytes: Buffer;
}

/** A topic that has followers, or had some recently. */
export class LiveTopic {
  readonly name: string;
  /** States are dropped with their last follower; lines are kept for a while. */
  readonly isState: boolean;
  readonly #followers = new Set<LiveStream>();
  readonly #onSlow: (stream: LiveStream) => void;
  readonly #ticking: Disposable;
  /** The last events; for states, only the last event per name. */
  #recentEvents: SentEvent[] = [];
  #keptBytes = 0;
  /** The sequence number before the oldest kept event. */
  #goneSeq: number;
  #lastSeq: number;
  #countOfSec = 0;
  #dropped = 0;
  #feed: Disposable | undefined;
  #isClosed = false;
  #leftMs: number;

  /** @param options.onSlow called when a follower does not read its events. */
  constructor(options: {
    readonly name: string;
    readonly isState: boolean;
    readonly clock: Clock;
    readonly onSlow: (stream: LiveStream) => void;
  }) {
    this.name = options.name;
    this.isState = options.isState;
    this.#onSlow = options.onSlow;
    // Larger than all numbers of an earlier process or of an earlier topic of this name.
    this.#lastSeq = Math.floor(options.clock.nowMs()) * 1000;
    this.#goneSeq = this.#lastSeq;
    this.#leftMs = options.clock.monotonicMs();
    this.#ticking = options.clock.every(1000, () => this.#tick());
  }

  /** The event source, which is closed with the topic. */
  set feed(feed: Disposable) {
    if (this.#isClosed) feed[Symbol.dispose]();
    else this.#feed = feed;
  }

  readonly notify: NotifyLive = (event, data) => {
    if (this.#countOfSec < MAX_PER_SEC) this.#send(event, data);
    else this.#dropped++;
    this.#countOfSec++;
  };

  /** @param afterSeq the last event that the client received; `undefined` if it received none. */
  follow(stream: LiveStream, afterSeq: number | undefined): void {
    this.#followers.add(stream);
    if (!stream.push(this.#begin(afterSeq)) && !stream.push(this.gap())) this.#onSlow(stream);
  }

  unfollow(stream: LiveStream, nowMs: number): void {
    if (this.#followers.delete(stream)) this.#leftMs = nowMs;
  }

  /** Returns an event for missed data. */
  gap(): Buffer {
    return this.#mark('gap');
  }

  /** Time since the last follower left; `undefined` while there are followers. */
  get leftMs(): number | undefined {
    return this.#followers.size > 0 ? undefined : this.#leftMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#ticking[Symbol.dispose]();
    this.#feed?.[Symbol.dispose]();
  }

  #tick(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#countOfSec = 0;
    if (dropped > 0) this.#send('sampled', { dropped });
  }

  #send(event: string, data: unknown): void {
    const seq = ++this.#lastSeq;
    const bytes = eventOf(event, `${this.name}:${seq}`, data);
    this.#keep({ seq, event, bytes });
    for (const stream of this.#followers) if (!stream.push(bytes)) this.#onSlow(stream);
  }

  #keep(sent: SentEvent): void {
    if (this.isState) {
      this.#recentEvents = [
        ...this.#recentEvents.filter(({ event }) => event !== sent.event),
        sent,
      ];
      return;
    }
    this.#recentEvents.push(sent);
    this.#keptBytes += sent.bytes.length;
    while (this.#recentEvents.length > MAX_KEPT_COUNT || this.#keptBytes > MAX_KEPT_BYTES) {
      const oldest = this.#recentEvents.shift();
      this.#keptBytes -= oldest?.bytes.length ?? 0;
      this.#goneSeq = oldest?.seq ?? this.#goneSeq;
    }
  }

  /** Returns the first data for a new follower. */
  #begin(afterSeq: number | undefined): Buffer {
    if (afterSeq === undefined && !this.isState) return this.#mark('start');
    const fromSeq = afterSeq ?? 0;
    // A larger number comes from another node, or from a process whose clock was ahead.
    if (fromSeq > this.#lastSeq || (!this.isState && fromSeq < this.#goneSeq)) return this.gap();
    const missed = this.#recentEvents.filter(({ seq }) => seq > fromSeq);
    return Buffer.concat(missed.map(({ bytes }) => bytes));
  }

  #mark(event: 'start' | 'gap'): Buffer {
    return eventOf(event, `${this.name}:${this.#lastSeq}`, {});
  }
}

/** Source: HTML, "Server-sent events"; JSON has no line ends. */
const eventOf = (event: string, id: string, data: unknown): Buffer =>
  Buffer.from(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);

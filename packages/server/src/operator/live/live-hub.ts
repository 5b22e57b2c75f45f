import { type Clock, type LiveSource, LiveStream, ServerBusy } from '@plinth/kernel';

import { LiveTopic } from './live-topic.js';

export const MAX_STREAM_COUNT = 32;
const HEARTBEAT_MS = 15_000;
/** A stream is closed within this time after its token is revoked. */
const REVOKED_CHECK_MS = 500;
/** A hidden page or a reconnecting client returns within this time. */
const KEEP_TOPIC_MS = 120_000;
/** Bound for topics without followers. */
const MAX_LEFT_COUNT = 64;

/** Timeout for opening a topic. */
const MAX_OPENING_MS = 10_000;
/** Time for a client to read the rest of its stream. */
const MAX_ENDING_MS = 10_000;

const HEARTBEAT = Buffer.from(': heartbeat\n\n');

interface Follower {
  readonly topics: readonly LiveTopic[];
  readonly isLetIn: () => boolean;
  readonly drop: () => void;
}

/** Live topics and their followers. */
export class LiveHub {
  readonly #clock: Clock;
  readonly #sources = new Map<string, LiveSource>();
  readonly #topics = new Map<string, LiveTopic | Promise<LiveTopic | undefined>>();
  readonly #streams = new Map<LiveStream, Follower>();
  readonly #beating: Disposable;
  readonly #checking: Disposable;
  #openingCount = 0;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beating = clock.every(HEARTBEAT_MS, () => this.#beat());
    this.#checking = clock.every(REVOKED_CHECK_MS, () => this.#endRevoked());
  }

  add(source: LiveSource): void {
    this.#sources.set(source.name, source);
  }

  /**
   * Opens a stream of these topics. Throws `ServerBusy`.
   * @param options.isLetIn whether the client is still authorized; called repeatedly.
   * @param options.disconnectSignal aborted when the client disconnects.
   * @param options.drop called when the stream has ended but the client has not read the end.
   * @returns the first unknown topic name in place of a stream.
   */
  async open(options: {
    readonly topics: readonly string[];
    /** The last received event, by topic. */
    readonly positions: ReadonlyMap<string, number>;
    readonly isLetIn: () => boolean;
    readonly disconnectSignal: AbortSignal;
    readonly drop: () => void;
  }): Promise<LiveStream | string> {
    if (this.#isClosed) throw new ServerBusy('the server is shutting down');
    if (this.#streams.size + this.#openingCount >= MAX_STREAM_COUNT) {
      throw new ServerBusy(`the limit of ${MAX_STREAM_COUNT} live streams has been reached`);
    }
    this.#openingCount++;
    try {
      const topics = await this.#unlessLate(
        this.#openAll(options.topics),
        options.disconnectSignal,
      );
      if (typeof topics === 'string') return topics;
      if (this.#isClosed) throw new ServerBusy('the server is shutting down');
      const stream: LiveStream = new LiveStream(options.isLetIn, () => this.#leave(stream));
      this.#streams.set(stream, { ...options, topics });
      stream.push(HEARTBEAT);
      const positions = new Map(
        [...options.positions].map(([name, seq]) => [oneNameOf(name), seq]),
      );
      for (const topic of topics) {
        // The replay of an earlier topic may have cut the stream.
        if (this.#streams.has(stream)) topic.follow(stream, positions.get(topic.name));
      }
      return stream;
    } finally {
      this.#openingCount--;
      this.#forget();
    }
  }

  /** Ends all streams, so that clients reconnect to another server or to this one later. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#beating[Symbol.dispose]();
    this.#checking[Symbol.dispose]();
    for (const stream of [...this.#streams.keys()]) stream.end();
    for (const topic of this.#topics.values()) if (topic instanceof LiveTopic) topic.close();
    this.#topics.clear();
  }

  /** @returns the first unknown topic name in place of topics. */
  async #openAll(names: readonly string[]): Promise<readonly LiveTopic[] | string> {
    const topics = new Set<LiveTopic>();
    for (const requested of names) {
      const name = oneNameOf(requested);
      const topic = name === undefined ? undefined : await this.#topic(name);
      if (topic === undefined) return requested;
      topics.add(topic);
    }
    return [...topics];
  }

  /** Returns the result of `opening`. Throws `ServerBusy` after a timeout, or when the client has disconnected. */
  async #unlessLate<T>(opening: Promise<T>, disconnectSignal: AbortSignal): Promise<T> {
    const settled = new AbortController();
    const over = AbortSignal.any([disconnectSignal, settled.signal]);
    const late = this.#clock.sleep(MAX_OPENING_MS, over).then(
      () =>
        Promise.reject(
          new ServerBusy(`a topic could not be opened within ${MAX_OPENING_MS / 1000} s`),
        ),
      () => Promise.reject(new ServerBusy('the client has disconnected')),
    );
    try {
      return await Promise.race([opening, late]);
    } finally {
      settled.abort();
    }
  }

  async #topic(name: string): Promise<LiveTopic | undefined> {
    const known = this.#topics.get(name);
    if (known !== undefined) return await known;
    const opening = this.#openTopic(name);
    this.#topics.set(name, opening);
    try {
      const topic = await opening;
      if (topic === undefined) this.#topics.delete(name);
      else if (this.#isClosed) topic.close();
      else this.#topics.set(name, topic);
      return topic;
    } catch (error) {
      this.#topics.delete(name);
      throw error;
    }
  }

  async #openTopic(name: string): Promise<LiveTopic | undefined> {
    const [kind = '', ...parts] = name.split(':').map(decodeURIComponent);
    const source = this.#sources.get(kind);
    if (source === undefined) return undefined;
    const topic = new LiveTopic({
      ...{ name, isState: source.isState, clock: this.#clock },
      onSlow: (stream) => this.#cut(stream),
    });
    try {
      const feed = await source.open(parts, topic.notify);
      if (feed !== undefined) {
        topic.feed = feed;
        return topic;
      }
    } catch (error) {
      topic.close();
      throw error;
    }
    topic.close();
    return undefined;
  }

  #cut(stream: LiveStream): void {
    const topics = this.#streams.get(stream)?.topics ?? [];
    stream.cut(Buffer.concat(topics.map((topic) => topic.gap())));
  }

  #leave(stream: LiveStream): void {
    const follower = this.#streams.get(stream);
    if (follower === undefined) return;
    this.#streams.delete(stream);
    for (const topic of follower.topics) topic.unfollow(stream, this.#clock.monotonicMs());
    this.#forget();
    const ending = this.#clock.every(MAX_ENDING_MS, () => {
      ending[Symbol.dispose]();
      if (!stream.isTaken) follower.drop();
    });
  }

  #beat(): void {
    this.#endRevoked();
    for (const stream of [...this.#streams.keys()]) {
      // Also closes the stream of a client that reads nothing.
      if (!stream.push(HEARTBEAT)) this.#cut(stream);
    }
    this.#forget();
  }

  #endRevoked(): void {
    for (const [stream, { isLetIn }] of [...this.#streams]) if (!isLetIn()) stream.end();
  }

  /**
   * Drops topics without followers: states immediately, because new followers receive the complete state, and lines
   * after a while.
   */
  #forget(): void {
    if (this.#openingCount > 0) return; // Topics being opened have no followers yet.
    const left: LiveTopic[] = [];
    for (const topic of this.#topics.values()) {
      if (topic instanceof LiveTopic && topic.leftMs !== undefined) left.push(topic);
    }
    left.sort((a, b) => (b.leftMs ?? 0) - (a.leftMs ?? 0));
    const nowMs = this.#clock.monotonicMs();
    for (const [index, topic] of left.entries()) {
      const isOld = nowMs - (topic.leftMs ?? 0) >= KEEP_TOPIC_MS;
      if (!topic.isState && !isOld && index < MAX_LEFT_COUNT) continue;
      topic.close();
      this.#topics.delete(topic.name);
    }
  }
}

/**
 * Topic names are percent-encoded, so that they can contain colons and commas. Returns the form that event ids use;
 * `undefined` for an invalid encoding.
 */
function oneNameOf(topic: string): string | undefined {
  try {
    const parts = topic.split(':').map(decodeURIComponent);
    return parts.map(encodeURIComponent).join(':');
  } catch {
    return undefined;
  }
}

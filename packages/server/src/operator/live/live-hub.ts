import { type Clock, type LiveSource, ServerBusy } from '@plinth/kernel';
import { LiveStream } from './live-stream.js';
import { LiveTopic } from './live-topic.js';

export const MAX_STREAM_COUNT = 32;
const HEARTBEAT_MS = 15_000;
/** A page that is hidden or a server that is reached again comes back within this. */
const KEEP_TOPIC_MS = 120_000;
/** Of those that nobody follows. */
const MAX_LEFT_COUNT = 64;

const HEARTBEAT = Buffer.from(': heartbeat\n\n');

interface Follower {
  readonly topics: readonly LiveTopic[];
  readonly isLetIn: () => boolean;
}

/** Topics that somebody follows, and who follows them. */
export class LiveHub {
  readonly #clock: Clock;
  readonly #sources = new Map<string, LiveSource>();
  readonly #topics = new Map<string, LiveTopic | Promise<LiveTopic | undefined>>();
  readonly #streams = new Map<LiveStream, Follower>();
  readonly #beating: Disposable;
  #openingCount = 0;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beating = clock.every(HEARTBEAT_MS, () => this.#beat());
  }

  add(source: LiveSource): void {
    this.#sources.set(source.name, source);
  }

  /**
   * A stream of these topics. Throws `ServerBusy`.
   * @param at.isLetIn whether whoever asked may still follow; asked again and again.
   * @returns the name of a topic that there is none of, in place of a stream.
   */
  async open(at: {
    readonly topics: readonly string[];
    /** The last event that was had, by topic. */
    readonly positions: ReadonlyMap<string, number>;
    readonly isLetIn: () => boolean;
  }): Promise<LiveStream | string> {
    if (this.#isClosed) throw new ServerBusy('the server is shutting down');
    if (this.#streams.size + this.#openingCount >= MAX_STREAM_COUNT) {
      throw new ServerBusy(`the server has ${MAX_STREAM_COUNT} live streams, and no more`);
    }
    this.#openingCount++;
    try {
      const topics: LiveTopic[] = [];
      for (const name of at.topics) {
        const topic = await this.#topic(name);
        if (topic === undefined) return name;
        topics.push(topic);
      }
      if (this.#isClosed) throw new ServerBusy('the server is shutting down');
      const stream: LiveStream = new LiveStream(() => this.#leave(stream));
      this.#streams.set(stream, { topics, isLetIn: at.isLetIn });
      stream.push(HEARTBEAT);
      for (const topic of topics) topic.follow(stream, at.positions.get(topic.name));
      return stream;
    } finally {
      this.#openingCount--;
      this.#forget();
    }
  }

  /** Ends all streams, so that their clients look for another server or for this one when it is there again. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#beating[Symbol.dispose]();
    for (const stream of [...this.#streams.keys()]) stream.end();
    for (const topic of this.#topics.values()) if (topic instanceof LiveTopic) topic.close();
    this.#topics.clear();
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
    const [kind = '', ...parts] = partsOf(name);
    const source = this.#sources.get(kind);
    if (source === undefined) return undefined;
    const topic = new LiveTopic({
      ...{ name, isState: source.isState, clock: this.#clock },
      onSlow: (stream) => this.#cut(stream),
    });
    try {
      const feed = await source.open(parts, topic.tell);
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
    const topics = this.#streams.get(stream)?.topics ?? [];
    this.#streams.delete(stream);
    for (const topic of topics) topic.unfollow(stream, this.#clock.monotonicMs());
    this.#forget();
  }

  #beat(): void {
    for (const [stream, { isLetIn }] of [...this.#streams]) {
      // Nobody who is shut out since is told anything more.
      if (!isLetIn()) stream.end();
      else if (!stream.push(HEARTBEAT)) this.#cut(stream);
    }
    this.#forget();
  }

  /** States are told whole to whoever comes; lines are kept for a while. */
  #forget(): void {
    if (this.#openingCount > 0) return; // What it opens has no followers yet.
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

/** Names in a topic are percent-encoded, so that they may have colons and commas. */
function partsOf(topic: string): readonly string[] {
  try {
    return topic.split(':').map(decodeURIComponent);
  } catch {
    return []; // No such topic.
  }
}

import { EventStreamParser, type StreamEvent } from '@plinth/kernel/event-stream';
import {
  MAX_EVENT_LENGTH,
  retryDelayMs,
  STEADY_MS,
  STREAM_TIMEOUT_MS,
} from '../lib/live/streams.js';
import { authorization, urlOf } from './client.js';
import { connection } from './connection.js';
import { session } from './session.js';

export interface LiveEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the server.
  readonly data: any;
}

/** `polling` means that the stream is not available, so pages poll the server. */
export type LiveStatus = 'live' | 'polling';

export interface Follower {
  onEvent(event: LiveEvent): void;
  /** Events may have been missed: reload the complete state. */
  onReset(): void;
}

const HIDDEN_MS = 60_000;
const PATH = '/ops/v1/stream';

/** The single event stream of this tab, for all topics that its pages follow. */
export class Live {
  readonly #followers = new Map<string, Set<Follower>>();
  /** The last sequence number received, by topic. */
  readonly #positions = new Map<string, string>();
  /** Followed topics that the server does not know. */
  readonly #unknown = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #status: LiveStatus = 'live';
  #current: AbortController | undefined;
  #failureCount = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #isAsleep = false;
  #token = session.token;
  #isRefused = session.isRefused;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#seen());
    this.#seen(); // The tab may have been opened in the background.
    session.subscribe(() => {
      const isAsBefore = session.token === this.#token && session.isRefused === this.#isRefused;
      this.#token = session.token;
      this.#isRefused = session.isRefused;
      if (!isAsBefore) this.#open();
    });
    connection.subscribe(() => {
      if (connection.lostSince() === undefined && this.#retry !== undefined) this.#open();
    });
  }

  status(topic: string): LiveStatus {
    return this.#unknown.has(topic) ? 'polling' : this.#status;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns a function that stops following the topic. */
  follow(topic: string, follower: Follower): () => void {
    const others = this.#followers.get(topic);
    if (others !== undefined) others.add(follower);
    else {
      this.#followers.set(topic, new Set([follower]));
      this.#openSoon();
    }
    return () => {
      const left = this.#followers.get(topic);
      left?.delete(follower);
      if (left?.size !== 0) return;
      this.#followers.delete(topic);
      this.#positions.delete(topic);
      this.#unknown.delete(topic);
      this.#openSoon();
    };
  }

  /** Collects changes before it reopens the stream, because a navigation changes several topics. */
  #openSoon(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), 0);
  }

  #open(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const before = this.#current;
    const topics = [...this.#followers.keys()].filter((topic) => !this.#unknown.has(topic));
    // A token that the server rejected is not sent again.
    if (topics.length === 0 || this.#isAsleep || session.isRefused) {
      before?.abort();
      this.#current = undefined;
      return;
    }
    const current = new AbortController();
    this.#current = current;
    // The previous stream ends after this one has started, so that no event between them is missed.
    void this.#read(topics, current, before);
  }

  async #read(
    topics: readonly string[],
    current: AbortController,
    before: AbortController | undefined,
  ): Promise<void> {
    const { signal } = current;
    let isWaiting = true;
    let timeout = setTimeout(() => current.abort(), STREAM_TIMEOUT_MS);
    const restartTimeout = (): void => {
      clearTimeout(timeout);
      timeout = setTimeout(() => current.abort(), STREAM_TIMEOUT_MS);
    };
    try {
      const known = topics.flatMap((topic) => {
        const seq = this.#positions.get(topic);
        return seq === undefined ? [] : [`${topic}:${seq}`];
      });
      const response = await fetch(urlOf(PATH, { topics: topics.join(',') }), {
        headers: {
          ...authorization(),
          ...(known.length > 0 && { 'last-event-id': known.join(',') }),
        },
        ...{ signal, cache: 'no-store' },
      });
      before?.abort();
      connection.noteReachable();
      if (!response.ok || response.body === null) {
        await this.#refused(response, current);
        return;
      }
      const beganMs = performance.now();
      const parser = new EventStreamParser(MAX_EVENT_LENGTH);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        restartTimeout();
        if (performance.now() - beganMs >= STEADY_MS) this.#failureCount = 0;
        this.#notify('live');
        isWaiting = false;
        for (const message of parser.take(value)) this.#take(message);
        isWaiting = true;
      }
    } catch {
      // An event that cannot be read does not mean that the connection is lost.
      if (isWaiting && !signal.aborted) connection.noteUnreachable();
    } finally {
      clearTimeout(timeout);
      before?.abort();
      current.abort();
      if (this.#current === current) this.#failed();
    }
  }

  async #refused(response: Response, current: AbortController): Promise<void> {
    if (response.status === 401) session.refused();
    if (response.status !== 404) return;
    const [, topic = ''] = /no such topic: ([^"]+)"/.exec(await response.text()) ?? [];
    if (!this.#followers.has(topic)) return;
    // Pages of this topic poll; the others stay on the stream.
    this.#unknown.add(topic);
    this.#changed();
    if (this.#current !== current) return;
    this.#current = undefined;
    this.#openSoon();
  }

  /** Reopens the stream after it has ended, with increasing delays. */
  #failed(): void {
    this.#current = undefined;
    this.#failureCount++;
    if (this.#failureCount >= 2) this.#notify('polling');
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), retryDelayMs(this.#failureCount));
  }

  #take({ event, id, data }: StreamEvent): void {
    const colon = id.lastIndexOf(':');
    const [topic, seq] = [id.slice(0, colon), id.slice(colon + 1)];
    const known = this.#positions.get(topic);
    const isMark = event === 'gap' || event === 'start';
    // Two streams may be open at the same time while the topics change.
    if (!isMark && known !== undefined && Number(seq) <= Number(known)) return;
    this.#positions.set(topic, seq);
    const read = isMark ? undefined : eventOf(event, data);
    for (const follower of this.#followers.get(topic) ?? []) {
      if (read === undefined) follower.onReset();
      else follower.onEvent(read);
    }
  }

  #seen(): void {
    clearTimeout(this.#hiding);
    if (document.visibilityState === 'hidden') {
      this.#hiding = setTimeout(() => {
        this.#isAsleep = true;
        this.#open();
      }, HIDDEN_MS);
    } else if (this.#isAsleep) {
      this.#isAsleep = false;
      this.#failureCount = 0;
      this.#open();
      for (const followers of this.#followers.values()) {
        for (const follower of followers) follower.onReset();
      }
    }
  }

  #notify(status: LiveStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Returns `undefined` when the data is not valid JSON. */
function eventOf(event: string, data: string): LiveEvent | undefined {
  try {
    return { event, data: JSON.parse(data) };
  } catch {
    return undefined;
  }
}

export const live = new Live();

/** Tells all who follow a topic. @param data as JSON. */
export type NotifyLive = (event: string, data: unknown) => void;

/** A kind of topics that a part of the server tells of as they change. Whoever follows them is an admin. */
export interface LiveSource {
  /** The topic, or the first part of the names of its topics: `queue` of `queue:7`. */
  readonly name: string;
  /**
   * Each event says all that there is to know under its name, so whoever comes is told the last one. Else events are lines, of
   * which none may be missed.
   */
  readonly isState: boolean;
  /**
   * Begins to tell, until it is disposed; called once for all who follow a topic. `undefined`: there is no such topic.
   * @param parts of the topic behind its name.
   */
  open(
    parts: readonly string[],
    notify: NotifyLive,
  ): Disposable | undefined | Promise<Disposable | undefined>;
}

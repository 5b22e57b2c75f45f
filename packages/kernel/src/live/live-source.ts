/** Sends an event to all followers of a topic. @param data sent as JSON. */
export type NotifyLive = (event: string, data: unknown) => void;

/** A kind of live topics that one part of the server provides. Only admins can follow them. */
export interface LiveSource {
  /** The topic, or the first part of its topics' names: `queue` of `queue:7`. */
  readonly name: string;
  /**
   * Whether each event contains the complete state, so that new followers only receive the last event. Otherwise
   * events are lines, and followers must receive all of them.
   */
  readonly isState: boolean;
  /**
   * Sends events until disposed; called once for all followers of a topic. `undefined` for an unknown topic.
   * @param parts parts of the topic after its name.
   */
  open(
    parts: readonly string[],
    notify: NotifyLive,
  ): Disposable | undefined | Promise<Disposable | undefined>;
}

/** Long enough for deliveries that one node started and another one had to finish. */
export const ARRIVAL_MS = 120_000;

/** Clients of one service, which record the acknowledged requests. */
export interface StormClients {
  readonly figures: Readonly<Record<string, number>>;
  /** Resolves when all requests that were started have a response. */
  run(isOver: () => boolean): Promise<void>;
  /** Called after the storm. */
  check(): Promise<void>;
  close(): void;
}

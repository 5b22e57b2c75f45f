/** Also what one node began and another had to end has arrived by then. */
export const ARRIVAL_MS = 120_000;

/** Clients of one service, who know what was acknowledged to them. */
export interface StormClients {
  readonly figures: Readonly<Record<string, number>>;
  /** Resolves when all requests that were started have a response. */
  run(isOver: () => boolean): Promise<void>;
  /** Called after the storm. */
  check(): Promise<void>;
  close(): void;
}

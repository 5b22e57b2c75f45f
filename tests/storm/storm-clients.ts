/** Also what one node began and another had to end has arrived by then. */
export const ARRIVAL_MS = 120_000;

/** Clients of one service, who know what was acknowledged to them. */
export interface StormClients {
  readonly figures: Readonly<Record<string, number>>;
  /** Ends when what was begun is answered. */
  run(isOver: () => boolean): Promise<void>;
  /** Once the storm is over. */
  check(): Promise<void>;
  close(): void;
}

/** The engine at one moment. */
export interface EngineState {
  /** Rows that are not in segments yet. */
  readonly bufferedBytes: number;
  readonly logBytes: number;
  readonly isReadOnly: boolean;
  readonly tableCount: number;
  readonly segmentCount: number;
  readonly segmentBytes: number;
  readonly queriesWaiting: number;
  readonly queriesRunning: number;
  /** Queries answered from columns in memory. */
  readonly inMemoryQueries: number;
  readonly columnCacheBytes: number;
}

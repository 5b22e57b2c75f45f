/** Snapshot of the storage engine's state. */
export interface EngineState {
  /** Size of the rows that are not in segments yet. */
  readonly bufferedBytes: number;
  readonly logBytes: number;
  readonly isReadOnly: boolean;
  readonly tableCount: number;
  readonly segmentCount: number;
  readonly segmentBytes: number;
  readonly queriesWaiting: number;
  readonly queriesRunning: number;
  /** Queries served from columns in memory. */
  readonly columnQueries: number;
  readonly columnCacheBytes: number;
}

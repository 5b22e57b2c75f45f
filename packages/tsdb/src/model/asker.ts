/** Whoever waits for a query. The signal may be made when it is looked at: answers that are there at once do without. */
export interface Asker {
  readonly signal: AbortSignal;
  /** In whose name; `undefined`: the server's own. */
  readonly owner?: string | undefined;
  /** Told how many more bytes of a memory budget it holds; negative: how many fewer. */
  readonly reserved?: ((sizeBytes: number) => void) | undefined;
}

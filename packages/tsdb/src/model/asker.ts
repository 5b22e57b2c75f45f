/** Whoever waits for a query. The signal may be made when it is looked at: answers that are there at once do without. */
export interface Asker {
  readonly signal: AbortSignal;
  /** In whose name; `undefined`: the server's own. */
  readonly owner?: string | undefined;
  /** Called with the change in bytes reserved from a memory budget. */
  readonly reserved?: ((sizeBytes: number) => void) | undefined;
}

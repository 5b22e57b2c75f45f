/** The client of a query. Its signal may be created when it is first read: results that exist already do without. */
export interface QueryOwner {
  readonly signal: AbortSignal;
  /** In whose name; `undefined`: the server's own. */
  readonly owner?: string | undefined;
  /** Called with the change in bytes reserved from a memory budget. */
  readonly reserved?: ((sizeBytes: number) => void) | undefined;
}
